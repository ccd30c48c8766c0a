"""Answer queries about networks: autograd, gradients, modules, optimizers, weights.

Answers what a network consists of and where its gradients go; an unknown network may do anything. Must not
know threads, nor any rule.
"""
