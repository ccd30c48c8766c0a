"""Estimate how often code runs, from drivers, loops, guards, switches, roles and callers.

Answers with a chain of reasons; code that is not known to run often is cold. Must not know effects, threads,
nor any rule.
"""
