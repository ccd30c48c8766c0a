"""Read and write source files: discovery, decoding, git, atomic replacement.

Answers which files are checked and their text. Knows neither Python syntax nor rules.
"""
