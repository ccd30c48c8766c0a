"""Infer likely types where the type is not sure, and record what answers depend on.

The likely type may be unknown, too: if the choices of a type contradict one another, none of them is likely.
"""
