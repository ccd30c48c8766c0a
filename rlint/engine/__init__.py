"""Run rules over files: plan, dispatch, worker processes, caches, and rechecking what changed.

Answers which findings a set of files has. Knows no rule by name, and writes nothing except its cache.
"""
