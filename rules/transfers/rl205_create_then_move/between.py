"""Statements that run after a tensor is created and before it is moved."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import FUNCTIONS, Binding, SemanticModel, descendants
from rlint.rules.transfers._shared.made import Creation

_DEVICE_READS = ("device", "is_cuda")
_UNAVAILABLE = "the device must be available: otherwise the error is raised before `{}`"
_MOVED = "`{}` returns the new device"
_LONGEST_SHOWN = 40


def doubts_between(creation: Creation, model: SemanticModel) -> Iterator[str]:
    """Yield the conditions of the fix because of what runs in between: other code may observe where the
    tensor is, or that an error is raised earlier.
    """
    first, move = creation.made.calls[0], creation.move.call
    if creation.binding is None and not creation.made.is_named:
        return
    parts = model.dataflow.between(first, move) or []
    moved = set(descendants(move))
    statement = model.syntax.statement(move)
    around = set(model.ancestors(move))
    before = [
        node
        for node in descendants(statement)
        if isinstance(node, (ast.Call, ast.Attribute)) and node not in moved and node not in around
        if model.source.span(node) < model.source.span(move)
    ]
    for acting in (part for part in (*parts, *before) if _acts(part, model)):
        yield _UNAVAILABLE.format(_shown(acting, model))
        break
    holders = _holders(creation.move.source, model)
    for node in (*(inner for part in parts for inner in descendants(part)), *before):
        if _reads_device(node, holders, model):
            yield _MOVED.format(model.source.text(node))
            break


def _acts(part: ast.AST, model: SemanticModel) -> bool:
    """Whether a statement or expression does more than compute values and bind local variables."""
    if isinstance(part, (*FUNCTIONS, ast.ClassDef)):
        return False
    return isinstance(part, (ast.stmt, ast.expr)) and not model.analysis.effects.effect_of(part).quiet


def _holders(source: ast.expr, model: SemanticModel) -> list[Binding]:
    """Return the assignments of the variables through which the tensor gets to its move."""
    found: list[Binding] = []
    waiting: list[ast.AST] = [source]
    while waiting:
        for node in descendants(waiting.pop()):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                new = [binding for binding in model.dataflow.definitions(node) if binding not in found]
                found += new
                waiting += [binding.value for binding in new if binding.value is not None]
    return found


def _reads_device(node: ast.AST, holders: list[Binding], model: SemanticModel) -> bool:
    """Whether a node reads the device of one of the variables."""
    match node:
        case ast.Attribute(value=ast.Name() as owner, attr=name, ctx=ast.Load()) if name in _DEVICE_READS:
            return any(binding in holders for binding in model.dataflow.definitions(owner))
    return False


def _shown(part: ast.AST, model: SemanticModel) -> str:
    text = " ".join(model.source.text(part).split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"
