"""Rollouts that programs collect before they learn from them.

They tell how many environment steps come with each run of a line in an update, so that what it costs can be
compared with them. They never decide whether code is hot.
"""
