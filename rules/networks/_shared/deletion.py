"""Statements that a fix can do without."""

from __future__ import annotations

import ast

from rlint.rule import Edit
from rlint.semantics.model import Site


def deletion(statement: ast.stmt, site: Site) -> Edit | None:
    """The edit that removes a statement; None where a comment would go with it."""
    start, _ = site.span(statement)
    end = site.tree.positions.line_end(statement.end_lineno or statement.lineno)
    return None if site.has_comment(start, end) else site.delete(statement)
