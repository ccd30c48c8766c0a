"""Measure the usual cost of training steps.

Answers how long one environment step, gradient step, generated token or message takes, in a small and in a
large setting. Knows nothing of rules.
"""
