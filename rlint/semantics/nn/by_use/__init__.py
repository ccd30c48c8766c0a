"""Evidence that calls of unknown code return tensors that require grad.

Answers whether a file differentiates the results of a function (`learned_results`), or detaches them by name
(`detached_results`). Both are likely answers only.
"""
