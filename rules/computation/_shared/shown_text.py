"""How a repeated evaluation is shown and named."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, descendants
from rlint.rules.computation._shared import worth

_LONGEST = 50
_COUNTS = {1: "twice"}


def place_of(node: ast.expr, model: SemanticModel) -> ast.AST:
    """Return the node to underline. Older Pythons record where an f-string starts, but not the positions of
    its parts.
    """
    strings = [parent for parent in model.ancestors(node) if isinstance(parent, ast.JoinedStr)]
    return strings[-1] if strings else node


def message_for(first: ast.expr, again: list[ast.expr], reported: ast.expr, model: SemanticModel) -> str:
    """Return the message, with the line that has the result already, and the other lines that need it."""
    what = shown(first, model)
    statement = model.syntax.statement(first)
    if all(model.syntax.statement(node) is statement for node in again):
        times = _COUNTS.get(len(again), f"{len(again) + 1} times")
        return f"{what} is evaluated {times} in one statement with the same result"
    line = model.span_of(place_of(first, model))[0].line
    more = [str(model.span_of(place_of(node, model))[0].line) for node in again if node is not reported]
    also = f" (and again on line {', '.join(dict.fromkeys(more))})" if more else ""
    return f"{what} is evaluated again with the same result as on line {line}{also}"


def shown(expression: ast.expr, model: SemanticModel) -> str:
    """Return the source of the expression, or its callee if it is long."""
    text = ast.unparse(expression)
    if len(text) <= _LONGEST:
        return f"`{text}`"
    if isinstance(expression, ast.Call):
        return f"`{ast.unparse(expression.func)}(...)`"
    calls = [
        call
        for call in descendants(expression)
        if isinstance(call, ast.Call) and worth.is_costly(call, model)
    ]
    return f"the comprehension of `{ast.unparse(calls[0].func)}(...)`"
