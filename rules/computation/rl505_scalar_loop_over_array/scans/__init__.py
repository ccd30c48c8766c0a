"""Loops that scan arrays: grids, selected places, parts of a range, and searches for each item."""
