"""Keep results and summaries from one run to the next, in files that hold data only.

Answers what is known already of unchanged files. Knows no rule and no syntax tree.
"""
