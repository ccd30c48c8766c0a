"""Cache results and summaries between runs, in files that contain data only.

Answers what is already known of unchanged files. Knows no rule and no syntax tree.
"""
