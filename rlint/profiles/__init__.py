"""Read profiles of real runs, match them to source files, and convert them to shares and gains.

Answers what a finding cost in a run. Runs no user code, and knows no rule by name.
"""
