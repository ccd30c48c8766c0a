"""Find the functions and classes that files mention by name.

Answers where the name of a function would have to change if it was renamed, and which classes a file uses.
"""
