"""Run rules over files: plan, dispatch, worker processes, caches, and checking again what changed.

Answers what is found in a set of files. Knows no rule by name, and writes nothing but its cache.
"""
