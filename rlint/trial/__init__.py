"""Fixes tried out by a command of the user's, in a copy of the tree (`rlint fix --verify-with`)."""
