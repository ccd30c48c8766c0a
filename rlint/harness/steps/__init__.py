"""Measure what the steps of a training usually cost.

Answers how long one environment step, gradient step, generated token or message takes, in a small and in a
large setting. Knows nothing of rules.
"""
