"""Build edits from syntax nodes: replace, insert, delete, move, wrap, import.

Answers with the text of a fix, or None if it cannot be written. Knows neither types nor rules.
"""
