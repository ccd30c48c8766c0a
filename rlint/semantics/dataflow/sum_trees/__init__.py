"""Sum trees, in which prioritised replay buffers keep the priorities of transitions.

Answers which loops and functions walk down such a tree, one sample at a time (`sum_tree`, `descent`), which
update it from a leaf to the root (`sum_tree_update`), and which calls run them (`sum_tree_uses`).
"""
