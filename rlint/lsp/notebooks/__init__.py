"""Notebooks in an editor: their cells are text documents, and are checked together as one program.

Answers which cells an open notebook has, and where places of its one text stand in them. Knows no rule.
"""
