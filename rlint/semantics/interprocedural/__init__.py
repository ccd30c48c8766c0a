"""Link files: symbols, call graph, references, and the summaries that files exchange.

Answers what a name, a call or an attribute refers to in other files; a summary is plain data without a tree.
`summarise` collects the results of all packages for one file. Must not know any rule.
"""
