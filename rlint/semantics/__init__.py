"""Answer what code means, for rules: types, dataflow, effects, frequency, networks, threads.

Each package below answers one group of queries; `model` composes them. Knows no rule.
"""
