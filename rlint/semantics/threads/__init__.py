"""Find what runs in which thread or process, and what they share: queues, values, locks.

Answers which workers may run a line concurrently with another; an unknown target may run anywhere. Must not
know types, values and networks except through the summaries of `interprocedural`, nor any rule.
"""
