"""Infer what evaluating an expression does besides giving a value: writes, prints, draws, waits.

Answers with kinds of effects (`EffectKind`); what is unknown may do anything.
Must not know how networks are built, what runs in which thread, nor any rule.
"""
