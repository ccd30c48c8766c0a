"""Share a run among processes: forked where that is possible, spawned elsewhere.

Answers which process checks what. Knows messages and results as plain data.
"""
