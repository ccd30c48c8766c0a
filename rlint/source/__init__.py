"""Read and write source files: discovery, decoding, git, atomic replacement.

Answers which files are checked and what text they hold. Knows neither Python syntax nor rules.
"""
