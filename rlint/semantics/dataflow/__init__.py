"""Follow values: definitions and uses, mutation, escape, aliasing, evaluation order.

Answers where a value may come from, where it goes and what may modify it; unknown cases get the cautious
answer. Must not know what code does besides producing values (`effects` imports it), nor threads, nor any
rule.
"""
