"""Answer what code means before a rule looks: types, dataflow, effects, frequency, networks, threads.

Every package below answers one kind of question; `model` composes them. Knows no rule.
"""
