"""Infer the results of calls from their arguments: functions of libraries, networks, random draws, options.

UNKNOWN if that depends on values known only at run time.
"""
