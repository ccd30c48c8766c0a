"""One module per command of `rlint`, imported when the command is used.

Each has `command`, a click command. Knows the engine through its public functions alone.
"""
