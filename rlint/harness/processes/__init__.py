"""Run jobs of the harness in processes of their own, bounded in time, leaving nothing of them.

Answers what a job reported. Knows no verdict.
"""
