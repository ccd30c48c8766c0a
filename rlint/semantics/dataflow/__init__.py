"""Follow values: definitions and uses, mutation, escape, aliasing, evaluation order.

Answers where a value may come from, where it goes and what may change it; for unknown with the cautious side.
Must not know what code does besides giving values (`effects` calls it), nor threads, nor any rule.
"""
