"""Find what runs in which thread or process, and what they share: queues, values, locks.

Unknown targets count as running anywhere. Knows no rule.
"""
