"""Language server: findings and fixes for the text in the editor, before it is saved.

Answers requests of the Language Server Protocol. Treats rules and findings as data.
"""
