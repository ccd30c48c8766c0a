"""Estimate how often code runs: drivers, loops, guards, switches, roles, and the frequency they give.

Answers with a chain that a person can follow. Knows no rule.
"""
