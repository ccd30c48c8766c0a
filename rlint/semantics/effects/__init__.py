"""Infer the effects of evaluating an expression besides its value: writes, prints, draws, waits.

Answers with kinds of effects (`EffectKind`); unknown code may have any effect. Must not know how networks are
built, which thread runs code, nor any rule.
"""
