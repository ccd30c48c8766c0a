"""Read notebooks as one Python text, and write changes of that text back to their JSON.

Answers which cell contains a line. Knows no rule, and reads no output of cells.
"""
