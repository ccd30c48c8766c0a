"""Infer what evaluating an expression does besides giving a value.

Unknown effects count as the worst. Knows no rule.
"""
