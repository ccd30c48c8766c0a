"""Displays of patterns, rewritten with the patterns compiled."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from rlint.rule import Edit, SemanticModel, children
from rlint.rules.computation._shared.pattern_uses import Compiled

_WIDE = 80
_Display = ast.List | ast.Tuple | ast.Dict


def compiled(
    display: _Display, elements: Mapping[ast.expr, Compiled], alias: str, flags: str, model: SemanticModel
) -> str | None:
    """Return the source of a display with the patterns among its elements compiled, on the same lines; a list
    becomes a tuple. None if the rest of it is not constant.
    """
    if not _is_constant_but_for(elements, display):
        return None
    edits: list[Edit] = []
    for element, pattern in elements.items():
        written = pattern.pattern.text
        if written is None:
            return None
        call = f"{alias}.compile({written}, {flags})" if flags else f"{alias}.compile({written})"
        edits.append(model.edit.replace(element, call))
    plain = model.edit.text_with(display, edits).replace("\r\n", "\n")
    long = "\n" not in plain and len(plain) > _WIDE
    if isinstance(display, ast.Dict):
        return _one_per_line(plain, "{}") if long else plain
    inside = plain[1:-1] if plain[:1] in ("[", "(") and plain[-1:] in ("]", ")") else plain
    tuple_text = f"({inside})"
    if not isinstance(ast.parse(tuple_text, mode="eval").body, ast.Tuple):
        tuple_text = f"({inside},)"
    return _one_per_line(tuple_text, "()") if long else tuple_text


def _one_per_line(display: str, brackets: str) -> str:
    """Return the source of a one-line display with each item on a line of its own."""
    node = ast.parse(display, mode="eval").body
    items: list[str | None] = []
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            written = ast.get_source_segment(display, value)
            items.append(f"{ast.get_source_segment(display, key)}: {written}" if key is not None else None)
    elif isinstance(node, ast.Tuple):
        items = [ast.get_source_segment(display, item) for item in node.elts]
    lines = [f"    {item},\n" for item in items if item is not None]
    return "".join([brackets[0], "\n", *lines, brackets[1]]) if len(lines) == len(items) else display


def _is_constant_but_for(places: Collection[ast.expr], display: _Display) -> bool:
    """Whether everything in the display except the patterns is constant, too."""
    stack: list[ast.AST] = [display]
    while stack:
        node = stack.pop()
        if node in places or isinstance(node, (ast.Constant, ast.expr_context)):
            continue
        if not isinstance(node, (ast.List, ast.Tuple, ast.Dict)):
            return False
        stack.extend(children(node))
    return True
