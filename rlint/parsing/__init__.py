"""Parse Python of any version into `ast` trees, and locate nodes in the text.

Text that the running Python refuses (type parameters, f-strings since 3.12, t-strings, `except A, B`) is
parsed by LibCST and masked, so that `ast` can parse it. Does not know what names mean, and looks up no
scopes.
"""
