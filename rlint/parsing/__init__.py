"""Parse Python of any version into trees of `ast`, and say where in the text a node stands.

Text that the running Python refuses (type parameters, f-strings since 3.12, t-strings, `except A, B`) is
parsed by LibCST and masked, so that `ast` reads it. Does not know what names mean, and looks up no scopes.
"""
