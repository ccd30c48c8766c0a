"""Statements put into a block of their own, and taken out of one: the edits that change their indentation."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.edit.edits import Edits
from rlint.edit.reindent import reindented
from rlint.findings import Edit


def branches(statement: ast.If) -> Iterator[list[ast.stmt]]:
    """The blocks of an `if` with all its `elif`, and that of `else`, which is empty where there is none."""
    while True:
        yield statement.body
        match statement.orelse:
            case [ast.If() as statement]:
                continue
            case rest:
                yield rest
                return


def put_under(header: str, run: Sequence[ast.stmt], edits: Edits) -> Edit | None:
    """Put statements that follow one another under a header (`with lock:`, `if ready:`); None where their
    lines cannot be indented just so.
    """
    first, last = run[0], run[-1]
    if not all(map(edits.stands_alone, run)):
        return None
    base = edits.indentation(first)
    start, end = edits.span(first)[0], edits.span(last)[1]
    inner = base + unit(first, edits)
    body = reindented(edits.tree.text[start:end], base, inner)
    if body is None:
        return None
    return Edit(start, end, f"{header}{edits.tree.positions.newline}{inner}{body}")


def unit(statement: ast.stmt, edits: Edits) -> str:
    """One level of indentation, as it is around a statement."""
    base = edits.indentation(statement)
    around = edits.tree.parents.get(statement)
    while around is not None and not isinstance(around, (ast.stmt, ast.Module)):
        around = edits.tree.parents.get(around)
    outer = edits.indentation(around) if isinstance(around, ast.stmt) else ""
    found = base.removeprefix(outer) if base.startswith(outer) else ""
    return found or ("\t" if base.startswith("\t") else "    ")


def taken_out(block: ast.With | ast.AsyncWith, edits: Edits) -> Edit | None:
    """Put what stands under a `with` in its place; None where its lines cannot be moved just so, or where a
    comment would be lost.
    """
    first, last = block.body[0], block.body[-1]
    if not edits.stands_alone(block) or not edits.stands_alone(first):
        return None
    start, end = edits.span(block)[0], edits.span(last)[1]
    if edits.has_comment(start, edits.span(first)[0]):
        return None
    outer, inner = edits.indentation(block), edits.indentation(first)
    if not inner.startswith(outer):
        return None
    body = reindented(edits.tree.text[edits.span(first)[0] : end], inner, outer)
    return Edit(start, end, body) if body is not None else None
