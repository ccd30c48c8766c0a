"""Read source as a tree that is parsed once and walked once.

Answers where things stand: parents, scopes, positions. Knows neither what names mean nor rules.
"""
