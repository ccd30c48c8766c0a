"""Serve editors: findings and fixes for what stands there before it is saved.

Answers requests of the Language Server Protocol. Knows rules and findings as data.
"""
