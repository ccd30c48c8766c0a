"""Parts of a run in which the speed of code matters little.

They answer whether code runs only at the beginning, or in loops that wait for the clock.
"""
