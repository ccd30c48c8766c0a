"""Find what runs in which thread or process, and what they share: queues, values, locks.

Answers who may run a line at the same time as another; an unknown target may run anywhere.
Must not know types, values and networks but by the summaries of `interprocedural`, nor any rule.
"""
