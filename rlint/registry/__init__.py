"""List rules, those that come with rlint and those of plugins, and import the selected ones.

Answers what is known of a rule without importing it. Knows nothing of the code that is checked.
"""
