"""One module per command of `rlint`, imported when the command is used.

Each defines `command`, a click command. Uses only public functions of the engine.
"""
