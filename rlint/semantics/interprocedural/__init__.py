"""Link files: symbols, call graph, references, and the summaries that files exchange.

Summaries are plain data without syntax trees. Knows no rule.
"""
