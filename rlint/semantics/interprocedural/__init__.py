"""Link files: symbols, call graph, references, and the summaries that files exchange.

Answers what a name, a call or an attribute leads to in other files; a summary is plain data without a tree.
`summarise` collects what all packages find out about one file. Must not know any rule.
"""
