"""Loops that run a network on one item of a data set after the other.

Nothing drives such a loop: it neither steps an environment nor takes a gradient step. Its body likely runs
often all the same, once for each of many items, even if the function is called only once. `item_runs` finds
the loops of a file, `networks_on_items` the networks that they run in other functions.
"""
