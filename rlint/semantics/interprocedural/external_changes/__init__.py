"""Find code that changes or observes what other files define: attributes, methods, names of modules.

Answers whether a definition means at run time what its own file says. Replacements by tests are ignored.
"""
