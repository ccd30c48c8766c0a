"""Index a syntax tree in one walk: parents, scopes, names, values assigned to targets.

Does not know what names mean across files, nor rules.
"""
