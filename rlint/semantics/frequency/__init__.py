"""Estimate how often code runs: drivers, loops, guards, switches, roles and callers, and what follows.

Answers with a chain that a person can follow; what no code is known to run often is cold.
Must not know effects, threads, nor any rule.
"""
