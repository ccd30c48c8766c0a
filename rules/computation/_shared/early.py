"""Loops that an exception may end early, after which their partial result is visible."""

from __future__ import annotations

import ast

from rlint.rule import FUNCTIONS, Loop, SemanticModel

_HARMLESS = ("torch.", "numpy.errstate")
"""Context managers that do not suppress exceptions."""


def may_end_early(held: ast.Name, region: Loop, model: SemanticModel) -> bool:
    """Whether an exception may leave the loop and be caught by code that then reads the list."""
    scope = model.names.scope(held).lookup(held.id)
    uses = model.names.uses(held.id, scope) if scope is not None else []
    for ancestor in model.ancestors(region):
        if isinstance(ancestor, FUNCTIONS):
            break
        body: list[ast.stmt] = []
        if isinstance(ancestor, ast.Try) or type(ancestor).__name__ == "TryStar":
            body = getattr(ancestor, "body", [])
        elif isinstance(ancestor, (ast.With, ast.AsyncWith)):
            managers = (item.context_expr for item in ancestor.items)
            called = (manager.func if isinstance(manager, ast.Call) else manager for manager in managers)
            if not all((model.names.qualified(name) or "").startswith(_HARMLESS) for name in called):
                body = ancestor.body
        if body:
            first, last = model.source.span(body[0])[0], model.source.span(body[-1])[1]
            if any(not first <= model.source.span(use)[0] < last for use in uses):
                return True
    return False
