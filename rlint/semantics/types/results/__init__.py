"""Infer what calls give from what they are given: functions of libraries, networks, random draws, options.

UNKNOWN where that depends on values which only the running program knows.
"""
