"""Read the measurements of rules: the files in `fixtures/<rule>/evidence/`.

Answers what a fix gained, on which device, and whether that is still valid. Runs and measures nothing.
"""
