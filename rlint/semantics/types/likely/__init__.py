"""Infer what is likely of a type where it is not sure, and note what answers rest on.

Unknown is an answer here, too: where the choices of a type contradict one another, none of them is likely.
"""
