"""Check again only what a change can reach: dependencies of files on facts about other files.

Answers which results still hold. Knows queries and answers as plain data.
"""
