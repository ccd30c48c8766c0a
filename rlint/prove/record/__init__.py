"""Record calls in the user's program while it runs. Loaded into that program: imports the standard library
only.

Answers with files of inputs, and with how often and how long each region ran.
"""
