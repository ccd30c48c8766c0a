"""Random numbers that are drawn in host memory and copied into a buffer of a network."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, descendants, only_callee
from rlint.rules.transfers._shared.buffers import registered_in
from rlint.rules.transfers._shared.tensor_constructors import draws_on_host

_DEPTH = 6
_MOST_BINDINGS = 4


def drawn_for_buffers(cls: ast.ClassDef, model: SemanticModel) -> dict[ast.Call, ast.Call]:
    """Return the draws in host memory that a class of networks copies into its buffers and parameters, each
    with the first `copy_` of it; query it through `model.once`.
    """
    registered = registered_in(cls, model)
    found: dict[ast.Call, ast.Call] = {}
    for node in descendants(cls) if registered else ():
        match node:
            case ast.Call(func=ast.Attribute(value=target, attr="copy_"), args=[value]):
                if isinstance(target, ast.Attribute) and target.attr == "data":
                    target = target.value
                if not isinstance(target, ast.Attribute) or target.attr not in registered:
                    continue
                for draw in _draws(value, model, _DEPTH):
                    first = found.setdefault(draw, node)
                    if model.source.span(node) < model.source.span(first):
                        found[draw] = node
    return found


def _draws(value: ast.expr, model: SemanticModel, depth: int) -> list[ast.Call]:
    """Return the draws in host memory from which a value is computed, in this function and those that it
    calls.
    """
    parts: list[ast.expr] = []
    match value:
        case ast.Name():
            bindings = model.dataflow.definitions(value)
            if len(bindings) <= _MOST_BINDINGS:
                parts = [
                    each.value
                    for each in bindings
                    if each.kind is BindingKind.ASSIGN and each.value is not None and not each.path
                ]
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case ast.UnaryOp(operand=operand) | ast.Subscript(value=operand):
            parts = [operand]
        case ast.Call(func=func, args=args) if not draws_on_host(value, model):
            if isinstance(func, ast.Attribute) and func.attr in ("to", "cuda"):
                return []  # a move, which is examined separately
            returned = _returned(value, model)
            parts = returned or [*([func.value] if isinstance(func, ast.Attribute) else []), *args]
        case ast.Call():
            return [value]
    return [draw for part in parts if depth > 0 for draw in _draws(part, model, depth - 1)]


def _returned(call: ast.Call, model: SemanticModel) -> list[ast.expr]:
    """Return the result of the function of this file that a call runs."""
    definition = only_callee(call, model)
    if definition is None:
        return []
    returns = [node for node in descendants(definition) if isinstance(node, ast.Return)]
    return [node.value for node in returns if node.value is not None]
