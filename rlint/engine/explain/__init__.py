"""Explain what the rules report on one line, and why they report nothing.

Answers, for each rule that visits a line, what it reported, or its queries before it returned and what would
make it report. Rules contain no code for it: they run with a model that records queries.
"""
