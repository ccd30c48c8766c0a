"""Edits that take statements out of a program."""

from __future__ import annotations

import ast
from collections.abc import Collection

from rlint.edit.edits import Edits
from rlint.findings import Edit


def removed(statements: Collection[ast.stmt], edits: Edits) -> list[Edit] | None:
    """Remove statements, each with the comment above that is about it alone; `pass` goes where nothing would
    be left of a block, and a comment behind a statement stays. None where a comment in a statement would be
    lost, or one shares its line.
    """
    found: list[Edit] = []
    for statement in statements:
        if any(ancestor in statements for ancestor in edits.tree.ancestors(statement)):
            continue
        start, end = edits.span(statement)
        if edits.has_comment(start, end) or not edits.stands_alone(statement):
            return None
        block, index = edits.tree.block(statement)
        if all(sibling in statements for sibling in block):
            if index == len(block) - 1:
                found.append(_without_else(block, edits) or Edit(start, end, "pass"))
                continue
            if _without_else(block, edits) is not None:
                continue
        rest = edits.tree.text[end : edits.tree.positions.line_end(statement.end_lineno or statement.lineno)]
        if rest.strip():
            found.append(Edit(start, end + len(rest) - len(rest.lstrip()), ""))
            continue
        deleted = edits.delete(statement, comment=True)
        if deleted is None:
            return None
        found.append(deleted)
    return found


def _without_else(block: list[ast.stmt], edits: Edits) -> Edit | None:
    """Remove a whole `else` block, with its header; None where the block is none."""
    parent, positions = edits.tree.parents.get(block[0]), edits.tree.positions
    if not isinstance(parent, (ast.If, ast.For)) or block is not parent.orelse:
        return None
    above, last = parent.body[-1], block[-1]
    start = positions.line_start((above.end_lineno or above.lineno) + 1)
    end = positions.line_start((last.end_lineno or last.lineno) + 1)
    header = edits.tree.text[start : positions.line_start(block[0].lineno)]
    if header.strip() != "else:" or edits.has_comment(start, end):
        return None
    return Edit(start, end, "")
