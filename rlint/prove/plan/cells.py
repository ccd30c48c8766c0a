"""The cells of a notebook in its text, where each begins with a line that is not code."""

from __future__ import annotations

import ast
import re

from rlint.prove.plan.changed_code import BlockPlace, node_at

_HEAD = re.compile(r"(.+)cell\d+")


def cells_of(tree: ast.Module) -> list[tuple[int, int]]:
    """Return the positions of each cell's statements in the body of a notebook's text."""
    marker = marker_of(tree)
    starts = [
        place for place, one in enumerate(tree.body) if marker and _named(one).startswith(f"{marker}cell")
    ]
    return [(start + 1, stop) for start, stop in zip(starts, [*starts[1:], len(tree.body)], strict=True)]


def marker_of(tree: ast.Module) -> str:
    """Return the prefix of the names that replace code which is not Python; "" without cells."""
    found = _HEAD.fullmatch(_named(tree.body[0])) if tree.body else None
    return found[1] if found else ""


def is_pure(tree: ast.Module, place: BlockPlace) -> bool:
    """Whether statements of a notebook are all Python, and of one cell."""
    marker = marker_of(tree)
    block = getattr(node_at(tree, place.steps), place.block)[place.start : place.stop]
    return not any(has_stand_in(one, marker) for one in block)


def has_stand_in(node: ast.AST, marker: str) -> bool:
    """Whether a node contains a replacement for code which is not Python."""
    return any(isinstance(one, ast.Name) and one.id.startswith(marker) for one in ast.walk(node))


def _named(node: ast.AST) -> str:
    return node.value.id if isinstance(node, ast.Expr) and isinstance(node.value, ast.Name) else ""
