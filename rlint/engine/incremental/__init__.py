"""Recheck only what a change can affect: dependencies of files on facts about other files.

Answers which results are still valid. Treats queries and answers as plain data.
"""
