"""Record calls in the user's program while it runs. Loaded into that program: the standard library alone.

Answers with files of inputs, and with how often and how long each region ran.
"""
