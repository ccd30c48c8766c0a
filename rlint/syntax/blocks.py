"""Statements put into a block of their own, and taken out of one: the edits that change their indentation."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.findings import Edit
from rlint.syntax.edits import Edits
from rlint.syntax.walk import below


def put_under(header: str, run: Sequence[ast.stmt], edits: Edits) -> Edit | None:
    """Put statements that follow one another under a header (`with lock:`, `if ready:`); None where their
    lines cannot be indented just so.
    """
    first, last = run[0], run[-1]
    if not all(map(edits.stands_alone, run)) or any(map(has_long_string, run)):
        return None
    base = edits.indentation(first)
    start, end = edits.span(first)[0], edits.span(last)[1]
    newline = edits.tree.positions.newline
    lines = edits.tree.text[start:end].split(newline)
    if any(line.strip() and not line.startswith(base) for line in lines[1:]):
        return None
    inner = base + unit(first, edits)
    body = [f"{inner}{lines[0]}"]
    body += [f"{inner}{line.removeprefix(base)}" if line.strip() else line for line in lines[1:]]
    return Edit(start, end, newline.join([header, *body]))


def unit(statement: ast.stmt, edits: Edits) -> str:
    """One level of indentation, as it is around a statement."""
    base = edits.indentation(statement)
    around = edits.tree.parents.get(statement)
    while around is not None and not isinstance(around, (ast.stmt, ast.Module)):
        around = edits.tree.parents.get(around)
    outer = edits.indentation(around) if isinstance(around, ast.stmt) else ""
    found = base.removeprefix(outer) if base.startswith(outer) else ""
    return found or ("\t" if base.startswith("\t") else "    ")


def has_long_string(statement: ast.stmt) -> bool:
    """Is there text of several lines in a statement, which must not be indented with it?"""
    return any(
        node.end_lineno != node.lineno
        and (
            isinstance(node, ast.JoinedStr)
            or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))
        )
        for node in below(statement)
        if isinstance(node, ast.expr)
    )


def taken_out(block: ast.With | ast.AsyncWith, edits: Edits) -> Edit | None:
    """Put what stands under a `with` in its place; None where its lines cannot be moved just so, or where a
    comment would be lost.
    """
    first, last = block.body[0], block.body[-1]
    if (
        not edits.stands_alone(block)
        or not edits.stands_alone(first)
        or any(map(has_long_string, block.body))
    ):
        return None
    start, end = edits.span(block)[0], edits.span(last)[1]
    if edits.has_comment(start, edits.span(first)[0]):
        return None
    outer, inner = edits.indentation(block), edits.indentation(first)
    newline = edits.tree.positions.newline
    lines = edits.tree.text[edits.span(first)[0] : end].split(newline)
    if not inner.startswith(outer) or any(line.strip() and not line.startswith(inner) for line in lines[1:]):
        return None
    body = [f"{outer}{line.removeprefix(inner)}" if line.strip() else line for line in lines[1:]]
    return Edit(start, end, newline.join([lines[0], *body]))
