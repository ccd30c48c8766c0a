"""The cells of a notebook in its text, where a line that is no code begins each of them."""

from __future__ import annotations

import ast
import re

from rlint.prove.plan.changed_code import BlockPlace, node_at

_HEAD = re.compile(r"(.+)cell\d+")


def cells_of(tree: ast.Module) -> list[tuple[int, int]]:
    """Return where the statements of each cell are in the body of a notebook's text."""
    marker = marker_of(tree)
    starts = [
        place for place, one in enumerate(tree.body) if marker and _named(one).startswith(f"{marker}cell")
    ]
    return [(start + 1, stop) for start, stop in zip(starts, [*starts[1:], len(tree.body)], strict=True)]


def marker_of(tree: ast.Module) -> str:
    """Return how the names begin that stand for what is no Python; "" without cells."""
    found = _HEAD.fullmatch(_named(tree.body[0])) if tree.body else None
    return found[1] if found else ""


def is_pure(tree: ast.Module, place: BlockPlace) -> bool:
    """Whether statements of a notebook are all Python, and of one cell."""
    marker = marker_of(tree)
    block = getattr(node_at(tree, place.steps), place.block)[place.start : place.stop]
    return not any(has_stand_in(one, marker) for one in block)


def has_stand_in(node: ast.AST, marker: str) -> bool:
    """Whether something that is no Python is within a node."""
    return any(isinstance(one, ast.Name) and one.id.startswith(marker) for one in ast.walk(node))


def _named(node: ast.AST) -> str:
    return node.value.id if isinstance(node, ast.Expr) and isinstance(node.value, ast.Name) else ""
