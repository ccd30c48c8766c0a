"""Follow values within functions: definitions and uses, mutation, escape, aliasing, evaluation order.

Answers for unknown with the cautious side. Knows no rule.
"""
