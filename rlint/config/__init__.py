"""Read settings: from configuration files and the command line to the settings of each file.

Answers which rules, paths and options apply. Knows rules by name only.
"""
