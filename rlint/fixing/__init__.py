"""Apply fixes: choose those that are compatible, demote doubtful ones, and write files in one step.

Answers what files look like after their fixes. Knows findings as data, and no rule by name.
"""
