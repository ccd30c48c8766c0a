"""List rules, those of rlint and those of plugins, and import the selected ones.

Answers what is known of a rule without importing it. Knows nothing of the checked code.
"""
