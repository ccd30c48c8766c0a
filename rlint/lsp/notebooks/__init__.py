"""Notebooks in an editor: their cells are text documents, and are checked together as one program.

Answers which cells an open notebook has, and maps positions in its text to them. Knows no rule.
"""
