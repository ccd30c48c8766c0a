"""Read what was measured of the rules: the files in `fixtures/<rule>/evidence/`.

Answers what a fix gained, where, and whether that still holds. Runs and measures nothing.
"""
