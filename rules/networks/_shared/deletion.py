"""Statements that a fix can do without."""

from __future__ import annotations

import ast

from rlint.rule import Edit, SemanticModel


def deletion(statement: ast.stmt, model: SemanticModel) -> Edit | None:
    """The edit that removes a statement; None where a comment would go with it."""
    start, _ = model.source.span(statement)
    end = model.syntax.positions.line_end(statement.end_lineno or statement.lineno)
    return None if model.source.has_comment(start, end) else model.edit.delete_statement(statement)
