"""The language server: rlint in an editor, on what stands there before it is saved."""
