"""Prove fixes on the user's own run: record calls of it, replay them before and after each fix.

Answers which fixes keep what a run computes, and what they gain in it. Runs the command that it is given.
"""
