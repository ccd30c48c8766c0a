"""Tensors of a single number that are only created for `torch.where`, which accepts numbers."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel

_OF_NUMBERS = frozenset({"torch.tensor", "torch.as_tensor", "torch.scalar_tensor"})


def is_number_chosen(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call copies a literal number to a device, and `torch.where` is all that uses the tensor."""
    if model.names.qualified(call.func) not in _OF_NUMBERS or len(call.args) != 1:
        return False
    keywords = {keyword.arg for keyword in call.keywords}
    if "device" not in keywords or not keywords <= {"device", "dtype"} or not _is_literal(call.args[0]):
        return False
    parent = model.parent(call)
    match parent:
        case ast.Assign(targets=[ast.Name(id=name) as target]):
            bindings = model.names.bindings(target)
            scope = model.names.scope(target)
            if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or scope.parent is None:
                return False
            reads = model.names.reads(name, scope)
            return bool(reads) and all(_is_chosen(read, model) for read in reads)
    return _is_chosen(call, model)


def _is_literal(given: ast.expr) -> bool:
    if isinstance(given, ast.UnaryOp):
        given = given.operand
    return isinstance(given, ast.Constant) and isinstance(given.value, (int, float))


def _is_chosen(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is one of the two that `torch.where` selects from, and the other is not a number."""
    match model.parent(value):
        case ast.Call(func=func, args=[condition, first, second], keywords=[]):
            pass
        case _:
            return False
    other = second if value is first else first
    return (
        value is not condition
        and model.names.qualified(func) == "torch.where"
        and not isinstance(other, (ast.Constant, ast.UnaryOp))
    )
