"""Follow access paths such as `buffers.Replay().storage` through the files of a project.

Answers which type a path has, which functions run where it is called, and which effects these have.
Attributes, parameters and results are resolved across files. Must not know the syntax tree of any file.
"""
