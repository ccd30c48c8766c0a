"""Uses of a value: whether it is compared, and whether computations from it can be removed."""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint.rule import SemanticModel, Trait, TypeTag, descendants, models
from rlint.rules.debugging._shared import copies

_COMPARING = models.names_having(Trait.DIFFERS, "torch", "numpy", "torch.nn.functional", TypeTag.TENSOR)


def can_be_omitted(expression: ast.expr, of_copy: Callable[[ast.expr], bool], model: SemanticModel) -> bool:
    """Whether evaluating an expression can be omitted. `of_copy` says whether a value comes from the copy:
    tensor methods are pure on that, even if its type is unknown.
    """
    for node in descendants(expression):
        match node:
            case ast.Call() if not (
                model.effects.call_effect(node).quiet or _is_of_tensor(node, of_copy, model)
            ):
                return False
            case ast.NamedExpr() | ast.Await() | ast.Yield() | ast.YieldFrom():
                return False
            case ast.Attribute() if copies.runs_code(node, model):
                return False
    return True


def _is_of_tensor(call: ast.Call, of_copy: Callable[[ast.expr], bool], model: SemanticModel) -> bool:
    if not isinstance(call.func, ast.Attribute) or model.names.qualified(call.func) is not None:
        return False
    method, owner = call.func.attr, call.func.value
    if model.types.call_targets(call):
        return False
    if copies.is_parameters(call, model):
        return True
    count = len(call.args) + len(call.keywords)
    known = (models.method_fact(tag, method, count) for tag in (TypeTag.TENSOR, TypeTag.NDARRAY))
    if not any(fact is not None and fact.effect.quiet for fact in known):
        return False
    inside = (node for node in descendants(owner) if isinstance(node, ast.expr))
    return of_copy(owner) or any(copies.is_weights(node, model) for node in inside)


def is_compared(read: ast.Name, model: SemanticModel) -> bool:
    """Whether a value, where it is read, is compared with another that varies."""
    for ancestor in model.ancestors(read):
        match ancestor:
            case (
                ast.BinOp(left=left, op=ast.Sub(), right=right)
                | ast.Compare(left=left, comparators=[right])
            ):  # fmt: skip
                return not isinstance(left, ast.Constant) and not isinstance(right, ast.Constant)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _COMPARING:
                return True
            case ast.For() | ast.comprehension():
                return True  # `for old, new in zip(before, net.parameters())`
            case ast.stmt():
                return False
    return False
