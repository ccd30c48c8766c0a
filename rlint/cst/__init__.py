"""Read Python that is newer than the running one: LibCST parses it, and `ast` reads what it is masked as.

Answers which tree and which tokens a text has that the running Python refuses: type parameters, `type`
statements, f-strings as they are since 3.12, t-strings, `except A, B`, stars in subscripts.
"""
