"""Attributes that hold data of a rollout, and no part of a graph: `self.memory.states`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import SemanticModel, TypeTag, models, numbers

_ADDS = models.mutators(TypeTag.LIST, TypeTag.DEQUE)


def holds_data(kept: ast.expr, model: SemanticModel) -> bool:
    """Whether everything that the file stores in an attribute, or puts into the list that it holds, is
    computed without a gradient, and the file stores anything at all.
    """
    if not isinstance(kept, ast.Attribute):
        return False
    stored = list(_stored(kept.attr, model))
    values = [value for value in stored if not _is_empty(value)]
    return bool(values) and all(_has_no_graph(value, model) for value in values)


def holder_of(kept: ast.expr, model: SemanticModel) -> ast.expr:
    """Return the object that holds an attribute, unless that is the own one: the memory of a rollout."""
    if isinstance(kept, ast.Attribute) and not model.names.is_self(kept.value):
        return kept.value
    return kept


def _stored(attribute: str, model: SemanticModel) -> Iterator[ast.expr]:
    """Yield the values that a file stores in attributes of a name, or adds to the lists in them."""
    for use in model.names.attribute_uses(attribute):
        around = model.parent(use)
        match around:
            case ast.Assign(value=value, targets=targets) if use in targets:
                yield value
            case ast.Attribute(attr=method) if method in _ADDS:
                call = model.parent(around)
                if isinstance(call, ast.Call) and call.func is around:
                    yield from call.args
            case ast.Subscript(ctx=ast.Store()) if around.value is use:
                assignment = model.parent(around)
                if isinstance(assignment, ast.Assign):
                    yield assignment.value
            case ast.Tuple(elts=targets) if isinstance(use.ctx, ast.Store):
                match model.parent(around):
                    case ast.Assign(value=ast.Tuple(elts=values)) if len(values) == len(targets):
                        yield values[targets.index(use)]
                    case _:
                        yield use
            case _ if isinstance(use.ctx, ast.Store):
                yield use


def _is_empty(value: ast.expr) -> bool:
    match value:
        case ast.List(elts=[]) | ast.Dict(keys=[]) | ast.Constant(value=None):
            return True
        case ast.Call(func=ast.Name(id="list" | "deque")):
            return not value.args
    return False


def _has_no_graph(value: ast.expr, model: SemanticModel) -> bool:
    if numbers.is_number(value, model):
        return True
    if isinstance(value, ast.Attribute) and isinstance(value.ctx, ast.Store):
        return False
    sources = model.gradients.sources(value)
    return (
        not sources.kept
        and not sources.leaves
        and not any(map(model.gradients.gives_gradient, sources.calls))
    )
