"""Find which files belong to one program, from their imports and names, without parsing them.

Answers which files have to be analysed together; if in doubt, they are. Must not know the other packages, nor
any rule.
"""
