"""Check many repositories on a Ray cluster, and store the results by content.

Answers what rules find in all repositories of an organisation, and what has changed since the last run.
`rlint check` checks a folder; each task runs it in a process of its own.
"""
