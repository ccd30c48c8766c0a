"""Datasets that move their samples to the device one by one."""

from __future__ import annotations

import ast

from rlint.rule import Device, Function, SemanticModel, descendants, target_of_move
from rlint.rules.transfers._shared.datasets import loads_sample


def moved_samples(call: ast.Call, model: SemanticModel) -> list[ast.Call]:
    """Return the calls, around `call`, in which the `__getitem__` of a dataset moves what it takes from its
    data by its index: `self.states[i].to(self.device)`, `tuple(part[i].to(self.device) for part in parts)`.
    """
    function = model.function(call)
    if function is None or not loads_sample(function, model):
        return []
    found: list[ast.Call] = model.once(_moved_in, function)
    return found


def _moved_in(function: Function, model: SemanticModel) -> list[ast.Call]:
    index = function.args.args[1].arg
    found = [
        node
        for node in descendants(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and _is_move(node, node.func.attr, model)
        and _uses_index(node.func.value, index, model)
    ]
    return sorted(found, key=model.source.span)


def _is_move(call: ast.Call, method: str, model: SemanticModel) -> bool:
    """Whether a call moves a tensor to a device that need not be the host."""
    if method == "cuda":
        return True
    target = target_of_move(call) if method == "to" else None
    if target is None or not model.types.is_device(target):
        return False
    return model.types.device_of(target) not in (Device.HOST, Device.OTHER)


def _uses_index(source: ast.expr, index: str, model: SemanticModel) -> bool:
    return any(
        isinstance(node, ast.Subscript)
        and any(isinstance(part, ast.Name) and part.id == index for part in descendants(node.slice))
        for node in descendants(_value(source, model))
    )


def _value(source: ast.expr, model: SemanticModel) -> ast.expr:
    """Return the value of a variable that one assignment sets, else the expression itself."""
    if not isinstance(source, ast.Name):
        return source
    bound = model.dataflow.definitions(source)
    value = bound[0].value if len(bound) == 1 and not bound[0].path else None
    return value if value is not None else source
