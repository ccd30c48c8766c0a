"""Estimate how often code runs: loops, conditions, intervals, roles, and the heat they give.

Answers with a chain that a person can follow. Knows no rule.
"""
