"""Loop-invariant operations on tensors: operators and gathers with the same result in each iteration."""

from __future__ import annotations

import ast

from rlint.rule import (
    EscapeLevel,
    Heat,
    SemanticModel,
    TypeTag,
    descendants,
    frozen,
    hoist_points,
    trip_count,
    variable_names,
)

_FEW = 3
_KEPT = frozenset({EscapeLevel.READ})


@frozen
class InvariantArray:
    """An assigned tensor that each iteration of a loop computes again, of which the first is `value`;
    `others` is the number of further ones.
    """

    value: ast.expr
    others: int


def invariant_arrays(loop: ast.For, model: SemanticModel) -> InvariantArray | None:
    """Return the tensors of `for s in range(n): relative = bodies - heads.unsqueeze(1); ...` that do not
    depend on the iteration. Calls are `invariant_in`'s; cheap views of tensors do not count.
    """
    statements = list(_candidates(loop.body))
    if not statements or model.frequency.heat_of(loop.body[0]).level is not Heat.HOT:
        return None
    passes = trip_count.passes(loop, model)
    if passes is not None and passes < _FEW:
        return None
    if model.frequency.driving_loop(loop.body[0]) is loop:
        return None
    bound = _bound(loop)
    found = [
        statement.value
        for statement in statements
        if not variable_names(statement.value) & bound and _is_invariant(statement, loop, model)
    ]
    return InvariantArray(found[0], len(found) - 1) if found else None


def _candidates(body: list[ast.stmt]) -> list[ast.Assign]:
    """Return the assignments of operations to a variable, also those under a condition."""
    found = []
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name()], value=ast.BinOp() | ast.Compare() | ast.Subscript()):
                found.append(statement)
            case ast.If(body=inner, orelse=[]):
                found += _candidates(inner)
    return found


def _is_invariant(statement: ast.Assign, loop: ast.For, model: SemanticModel) -> bool:
    value = statement.value
    if model.types.type_of(value).tag is not TypeTag.TENSOR or not _computes(value, model):
        return False
    if not _is_reached(statement, loop, model) or not model.effects.is_repeatable(value):
        return False
    if model.dataflow.use_of(value).escape_level not in _KEPT:
        return False  # each iteration may modify or keep its own
    parts = [loop.target, *loop.body]
    return model.dataflow.doubts_within(value, parts) == ()


def _computes(value: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression computes with a tensor, rather than selecting a view of it."""
    if not isinstance(value, ast.Subscript):
        return True
    index = value.slice
    return model.types.type_of(index).tag is TypeTag.TENSOR


def _is_reached(statement: ast.stmt, loop: ast.For, model: SemanticModel) -> bool:
    """Whether each iteration runs a statement, or whether a condition that all iterations share decides."""
    bound = _bound(loop)
    around = model.parent(statement)
    while isinstance(around, ast.If):
        if variable_names(around.test) & bound or any(
            isinstance(part, ast.Call) for part in descendants(around.test)
        ):
            return False
        statement, around = around, model.parent(around)
    if around is not loop:
        return False
    first = statement.value if isinstance(statement, ast.Assign) else getattr(statement, "test", None)
    return isinstance(first, ast.expr) and hoist_points.is_reached(first, loop, model)


def _bound(loop: ast.For) -> set[str]:
    """Return the variables that a loop sets."""
    return {
        node.id
        for node in descendants(loop)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
