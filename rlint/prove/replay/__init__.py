"""Replay recorded calls before and after a fix, compare and time them. Runs in separate processes.

Answers where behaviour differs, and how much faster the fix is.
"""
