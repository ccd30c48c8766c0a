"""Read settings: from configuration files and the command line to what applies to each file.

Answers which rules, paths and options apply. Knows rules by name alone, never what they look at.
"""
