"""Run jobs of the harness in separate processes, with limits, and clean up after them.

Answers what a job reported. Knows no verdict.
"""
