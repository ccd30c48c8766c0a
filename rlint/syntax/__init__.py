"""Index a syntax tree, which is walked once: parents, scopes, names, values assigned to targets.

Does not know what names mean across files, nor rules.
"""
