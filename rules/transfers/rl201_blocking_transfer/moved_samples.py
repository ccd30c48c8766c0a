"""Datasets that move their samples to the device one by one."""

from __future__ import annotations

import ast

from rlint.rule import Function, SemanticModel, TypeTag, descendants


def is_sample_of_dataset(call: ast.Call, source: ast.expr, model: SemanticModel) -> bool:
    """Whether the `__getitem__` of a dataset moves what it takes from the data by its index:
    `self.states[i].to(self.device)`, `tuple(part[i].to(self.device) for part in self.parts)`.
    """
    function = model.function(call)
    if function is None or function.name != "__getitem__" or len(function.args.args) != 2:
        return False
    index = function.args.args[1].arg
    if not model.once(_is_of_dataset, function):
        return False
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


def _is_of_dataset(function: Function, model: SemanticModel) -> bool:
    """Whether a method belongs to a dataset of torch."""
    receiver = function.args.args[0].arg
    used = (node for node in descendants(function) if isinstance(node, ast.Name) and node.id == receiver)
    own = next(used, None)
    return own is not None and model.types.type_of(own).tag is TypeTag.DATASET
