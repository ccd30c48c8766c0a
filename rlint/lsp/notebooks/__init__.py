"""Notebooks in an editor: their cells are text documents, and are checked together as one program."""
