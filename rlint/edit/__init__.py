"""Build edits from syntax nodes: replace, insert, delete, move, wrap, import.

Answers what text a fix needs, or None where it cannot be written. Knows neither types nor rules.
"""
