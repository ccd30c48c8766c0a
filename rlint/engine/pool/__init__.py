"""Divide a run among processes: forked if possible, else spawned.

Answers which process checks which files. Treats messages and results as plain data.
"""
