"""Results that leave a method with their gradient, which all its callers cut off, and states that a recurrent
network only gets back itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Function,
    SemanticModel,
    SinkKind,
    Trait,
    TypeTag,
    gradient_sinks,
    models,
    same_code,
)

_DEPTH = 2
_SAME_STATE = models.having(Trait.RELOCATES | Trait.COPIES | Trait.DETACHES, TypeTag.TENSOR)


def sinks_beyond(call: ast.Call, model: SemanticModel) -> tuple[set[SinkKind], str] | None:
    """The sinks of a forward's value, found at the callers where it is returned, and what must be true for
    them to be all; None where a gradient may get out, or where the callers need not be asked.
    """
    found: set[SinkKind] = set()
    assumptions: dict[str, None] = {}
    if not all(
        _ends(sink.node, sink.label, call, model, found, assumptions, _DEPTH)
        for sink in model.gradients.sinks(call)
    ):
        return None
    return (found, next(iter(assumptions))) if assumptions and found else None


def _ends(
    node: ast.AST,
    label: SinkKind,
    call: ast.Call,
    model: SemanticModel,
    found: set[SinkKind],
    assumptions: dict[str, None],
    depth: int,
) -> bool:
    if label in gradient_sinks.ENDS:
        found.add(label)
        return True
    if label is SinkKind.STORED and isinstance(node, ast.Attribute):
        assumptions[f"no other code uses `{model.source.text(node)}`"] = None
        return _is_own_state(node, call, model)
    function = model.function(call)
    if label is not SinkKind.RETURNED or depth <= 0 or function is None or not isinstance(node, ast.Return):
        return False
    results = list(_results(node, call, function, model))
    assumptions[f"no other code calls `{function.name}`"] = None
    return bool(results) and all(
        _ends(sink.node, sink.label, caller, model, found, assumptions, depth - 1)
        for caller, result in results
        for sink in (
            model.gradients.variable_sinks(result)
            if isinstance(result, ast.Name)
            else model.gradients.sinks(result)
        )
    )


def _is_own_state(stored: ast.Attribute, call: ast.Call, model: SemanticModel) -> bool:
    """Is an attribute given to nothing but the network that gave it: the state of a recurrent one?"""
    if not model.names.is_self(stored.value):
        return False
    for use in model.names.attribute_uses(stored.attr):
        if not isinstance(use.ctx, ast.Load):
            continue
        match model.parent(use):
            case ast.Call(func=func) as other if other.func is not use and same_code(func, call.func):
                pass
            case ast.Attribute(attr=method) as moved if method in _SAME_STATE:
                match model.parent(model.parent(moved) or moved):
                    case ast.Assign(targets=[ast.Attribute(attr=again)]) if again == stored.attr:
                        pass
                    case _:
                        return False
            case _:
                return False
    return True


def _is_network(owner: ast.ClassDef, model: SemanticModel) -> bool:
    """Is a class one of networks, whose methods anybody may call?"""
    summary = model.module.classes.get(model.syntax.qualname(owner))
    return summary is None or model.index.class_kind(summary).tag is TypeTag.MODULE


def _results(
    returned: ast.Return, call: ast.Call, function: Function, model: SemanticModel
) -> Iterator[tuple[ast.Call, ast.expr]]:
    """What the callers in this file do with the part of a result that a forward gave: the calls, each with
    the name that gets the part, or with itself.
    """
    owner = model.class_of(function)
    if owner is None or _is_network(owner, model) or model.frequency.is_called(call, elsewhere=True):
        return
    part: int | None = None
    if isinstance(returned.value, ast.Tuple):
        of_call = [
            index
            for index, element in enumerate(returned.value.elts)
            if call in model.gradients.sources(element).calls
        ]
        if len(of_call) != 1:
            return
        part = of_call[0]
    for use in model.names.attribute_uses(function.name):
        caller = model.parent(use)
        if not model.names.is_self(use.value):
            yield call, call  # of this class or another: its sinks are those that were found before
            return
        if model.class_of(use) is not owner:
            continue
        if not isinstance(caller, ast.Call) or caller.func is not use:
            yield call, call  # handed on
            return
        statement = model.parent(caller)
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=names)]) if part is not None and part < len(names):
                yield caller, names[part]
            case _:
                yield caller, caller
