"""Measure the cost of a program before and after its fixes: time, memory, synchronisations, growth.

Answers with intervals and verdicts. Compares no behaviour.
"""
