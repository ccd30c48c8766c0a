"""Try fixes with a user command, in a copy of the tree (`rlint fix --verify-with`).

Answers which fixes the command accepts. Treats fixes as edits, and does not know their purpose.
"""
