"""Methods of datasets that load one sample."""

from __future__ import annotations

import ast

from rlint.rule import Function, SemanticModel, TypeTag, descendants


def loads_sample(function: Function | ast.Lambda | None, model: SemanticModel) -> bool:
    """Whether a function is the `__getitem__` of a dataset of torch."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    if function.name != "__getitem__" or len(function.args.args) != 2:
        return False
    receiver = function.args.args[0].arg
    used = (node for node in descendants(function) if isinstance(node, ast.Name) and node.id == receiver)
    own = next(used, None)
    return own is not None and model.types.type_of(own).tag is TypeTag.DATASET
