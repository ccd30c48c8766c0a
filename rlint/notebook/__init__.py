"""Read notebooks as one Python text, and write changes of that text back into their JSON.

Answers which cell a line stands in. Knows no rule, and reads no output of cells.
"""
