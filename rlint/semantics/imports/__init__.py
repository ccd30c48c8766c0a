"""Find which files belong to one program, from their imports and names, without parsing them.

Answers which files have to be known together. Knows no types and no rule.
"""
