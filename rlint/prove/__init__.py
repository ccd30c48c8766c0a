"""Prove fixes on the user's own run: record calls of it, replay them before and after each fix.

Answers which fixes keep the results of a run, and how much time they save in it. Runs the given command.
"""
