"""Run jobs of the harness in separate processes, with limits, and clean up after them.

Answers with the reports of a job. Knows no verdict.
"""
