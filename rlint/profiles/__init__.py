"""Read profiles of real runs, match them to source files, and turn them into shares and gains.

Answers what a finding cost in a run. Runs no code of the user, and knows no rule by name.
"""
