"""Notebooks: their code as one Python text, and changes of that text back into their JSON."""
