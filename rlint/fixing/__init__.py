"""Apply fixes: choose those that are compatible, demote doubtful ones, and write files in one step.

Answers with the texts of files after their fixes. Treats findings as data, and knows no rule by name.
"""
