"""Chains of attributes that are read from a name."""

from __future__ import annotations

import ast

from rlint.syntax.syntax_index import SyntaxIndex


def read_chain(name: ast.Name, syntax: SyntaxIndex) -> ast.expr:
    """Return the longest chain of attributes of a name, without the method that is called: `options.limit` in
    `options.limit.bit_length()`.
    """
    whole: ast.expr = name
    while True:
        parent = syntax.parents.get(whole)
        if not isinstance(parent, ast.Attribute) or syntax.call_of(parent) is not None:
            return whole
        whole = parent
