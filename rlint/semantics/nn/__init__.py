"""Answer questions about networks: autograd, gradients, modules, optimizers, weights.

Unknown networks count as doing anything. Knows no rule.
"""
