"""Check many repositories on a Ray cluster, and keep what is found by content.

Answers what fires where in a whole organisation, and what has changed since the last run. How a folder is
checked is the business of `rlint check`, which each task runs in a process of its own.
"""
