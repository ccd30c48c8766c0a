"""Try fixes out by a command of the user's, in a copy of the tree (`rlint fix --verify-with`).

Answers which fixes the command accepts. Knows fixes as edits, never what they are for.
"""
