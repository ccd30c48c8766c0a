"""Parts of a training step: the networks that it updates, and the simulator that it waits for.

They tell how long a step takes in a program, so that what a line costs can be compared with it. They never
decide whether code is hot.
"""
