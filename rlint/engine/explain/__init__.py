"""Explain what the rules say of one line, and why they say nothing.

Answers, for each rule that looks at a line, what it reported, or what it asked before it gave up and what
would have made it report. No rule is written for it: they are run with a model that keeps a record.
"""
