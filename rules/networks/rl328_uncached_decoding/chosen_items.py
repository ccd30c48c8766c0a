"""Whether an item that a loop adds to a sequence is chosen from the result of a call."""

from __future__ import annotations

import ast

from rlint.rule import (
    AnyLoop,
    SemanticModel,
    TypeTag,
    children,
    descendants,
    is_in,
    last_name,
    models,
    mutable,
    regex,
)
from rlint.rules.networks._shared.last_positions import reads_last_position

_CHOOSES = regex(
    r"sampl|arg_?max|multinomial|(^|_)top_?[kp]($|_)|greedy|choice|(^|_)(pick|choose|select)(_|$)"
)
_TEXTS = regex(r"^(batch_)?decode$|token")
_MAXIMUM = "max"
_LOGITS = regex(r"(^|_)logits$")
_MOST = 80


@mutable
class Path:
    """What lies between the result of a call and a value: whether the value depends on it at all, whether an
    item is chosen, and whether only the last position is read.
    """

    is_reached: bool = False
    is_chosen: bool = False
    is_last: bool = False


def path_to(value: ast.expr, call: ast.Call, loop: AnyLoop, model: SemanticModel) -> Path:
    """Return what lies between the result of a call and a value that the same iteration computes. Only what
    leads to the choice of an item counts: `oracle(x[best])` is not the chosen item, but depends on it.
    """
    path = Path()
    pending: list[tuple[ast.AST, bool]] = [(value, False)]
    seen: set[tuple[ast.AST, bool]] = set()
    while pending and len(seen) < _MOST:
        node, is_chosen = pending.pop()
        if (node, is_chosen) in seen:
            continue
        seen.add((node, is_chosen))
        is_choice = isinstance(node, ast.Call) and chooses(node, model)
        if node is call:
            path.is_reached = True
            path.is_chosen = path.is_chosen or is_chosen or is_choice
            continue
        if isinstance(node, ast.Call) and not (is_chosen or is_choice or _only_converts(node, model)):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            pending += [
                (binding.value, is_chosen)
                for binding in model.dataflow.definitions(node)
                if binding.value is not None and is_in(binding.statement, loop)
            ]
        elif is_logits(node) or (isinstance(node, ast.Subscript) and reads_last_position(node)):
            path.is_last = True
        pending += [(child, is_chosen or is_choice) for child in children(node)]
    return path


def _only_converts(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call returns a value in another form: of a library or a function of the project, a method of
    tensors, or the text of a token.
    """
    name = last_name(call.func) or ""
    path = model.names.qualified(call.func)
    if path is not None and models.callable_fact(path) is not None:
        return True
    if isinstance(call.func, ast.Attribute) and models.method_fact(TypeTag.TENSOR, name) is not None:
        return True
    return bool(model.types.call_targets(call)) or _TEXTS.search(name) is not None


def is_logits(node: ast.AST) -> bool:
    """Whether an expression is the logits of the output of a language model."""
    match node:
        case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return name == "logits"
    return False


def chooses(call: ast.Call, model: SemanticModel, depth: int = 1) -> bool:
    """Whether a call draws or picks an item, also in functions of the project that it runs."""
    name = last_name(call.func) or ""
    if _CHOOSES.search(name) or (name == _MAXIMUM and _has_axis(call, model)):
        return True
    for target in model.types.call_targets(call) if depth else ():
        definition = model.types.definition(target)
        if definition is not None and any(
            isinstance(node, ast.Call) and chooses(node, model, depth - 1) for node in descendants(definition)
        ):
            return True
    return False


def _has_axis(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call of `max` also returns the index of the maximum."""
    given = len(call.args) + len(call.keywords)
    return given == (2 if model.names.qualified(call.func) == "torch.max" else 1)
