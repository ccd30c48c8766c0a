"""Branches that hardly run in the training runs of a project, by what decides them.

Heat tells how often the code around a branch runs. This package tells whether the branch is taken at all:
whether the arguments of all calls rule it out, or only a random exploration takes it. The answers lower the
impact of findings, and change no fix.
"""
