"""Shape changes guarded by a condition on a known number of dimensions, or made twice."""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint.rule import Applicability, Fix, SemanticModel, TypeTag, extract_variable, frozen
from rlint.rules.buffers.rl106_redundant_reshape.reshapes import (
    ARRAYS,
    KEEP_ORDER,
    Link,
    gives_any_shape,
    link_at,
    whole,
)

_TWO = 2
_COMPARED: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Gt: int.__gt__,
    ast.GtE: int.__ge__,
    ast.Lt: int.__lt__,
    ast.LtE: int.__le__,
    ast.Eq: int.__eq__,
    ast.NotEq: int.__ne__,
}


@frozen
class Guarded:
    """`link` runs always (`taken`) or never, since the value has `rank` dimensions."""

    test: ast.expr
    link: Link
    rank: int
    taken: bool


def guarded(node: ast.IfExp, model: SemanticModel) -> Guarded | None:
    """Return the guard `x.flatten() if x.ndim > 1 else x` for an `x` with a known number of dimensions."""
    for branch, other, wanted in ((node.body, node.orelse, True), (node.orelse, node.body, False)):
        link = link_at(branch, model)
        if link is None or link.name not in KEEP_ORDER or ast.dump(link.of) != ast.dump(other):
            continue
        kind = model.types.type_of(link.of)
        outcome = _answer(node.test, link.of, kind.rank, model)
        if outcome is not None and kind.rank is not None and kind.tag in ARRAYS and not kind.optional:
            return Guarded(node.test, link, kind.rank, outcome is wanted)
    return None


def _answer(test: ast.expr, of: ast.expr, rank: int | None, model: SemanticModel) -> bool | None:
    """Return the result of a comparison of the number of dimensions."""
    match test:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            number, compare = whole(right), _COMPARED.get(type(operator))
            if number is None or compare is None or rank is None or not _is_rank(left, of, model):
                return None
            return compare(rank, number)
    return None


def _is_rank(node: ast.expr, of: ast.expr, model: SemanticModel) -> bool:
    match node:
        case ast.Attribute(value=value, attr="ndim"):
            return ast.dump(value) == ast.dump(of)
        case ast.Call(func=ast.Attribute(value=value, attr="dim" | "ndimension"), args=[]):
            return ast.dump(value) == ast.dump(of)
        case ast.Call(func=func, args=[ast.Attribute(value=value, attr="shape")]):
            return model.names.qualified(func) == "builtins.len" and ast.dump(value) == ast.dump(of)
    return False


@frozen
class Twice:
    """The same shape change, made `times` times on the same value; `is_negated`: the result is negated each
    time, as in `-torch.squeeze(x)`.
    """

    times: int
    fix: Fix | None
    is_negated: bool = False


def twice(node: ast.Call, model: SemanticModel) -> Twice | None:
    """Return the first of several equal shape changes."""
    is_negated = _is_negated(node, model)
    if not _counts(node, model, is_negated=is_negated) or _is_inside_another(node, model):
        return None
    repetition = model.dataflow.repetition(node)
    if repetition is None or not all(_runs_network(doubt, model) for doubt in repetition.doubts):
        return None
    if any(isinstance(model.parent(each), (ast.For, ast.comprehension)) for each in repetition.all):
        return None  # compared with a Python loop, its cost does not matter
    if any(_is_overridden(each, model) for each in repetition.all):
        return None  # the next shape change makes it redundant
    together = {model.syntax.statement(each) for each in repetition.all}
    if len(repetition.all) == _TWO and len(together) == 1:
        return None  # `torch.dot(x.flatten(), x.flatten())`, which a variable would not make clearer
    if is_negated:
        if not all(_is_negated(each, model) for each in repetition.again):
            return None
        return Twice(len(repetition.all), None, is_negated=True)
    fix = None
    bound = extract_variable.bind_once(
        repetition, list(repetition.again), model, ["flat", "reshaped", "shaped"]
    )
    if bound is not None:
        reason = (
            "all uses share one view: it must not be modified in place, and gradients through it are "
            "accumulated in another order"
        )
        fix = Fix(f"Change the shape once, as `{bound.name}`", Applicability.UNSAFE, bound.edits, reason)
    return Twice(len(repetition.all), fix)


def _is_overridden(node: ast.expr, model: SemanticModel) -> bool:
    """Whether the next shape change gives the value any shape, whatever the shape before."""
    parent = model.parent(node)
    outer = model.syntax.call_of(parent) if isinstance(parent, ast.Attribute) else parent
    link = link_at(outer, model) if outer is not None else None
    return link is not None and link.of is node and gives_any_shape(link, model)


def _runs_network(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a network runs in between; networks do not modify their inputs."""
    return isinstance(node, ast.Call) and model.types.type_of(node.func).tag is TypeTag.MODULE


def _counts(node: ast.expr, model: SemanticModel, *, is_negated: bool) -> bool:
    """Whether a repeated shape change is worth a finding: one that may copy, or whose result is negated,
    which computes a new tensor.
    """
    link = link_at(node, model)
    if link is None or not (is_negated or link.name in ("reshape", "view", "flatten", "ravel")):
        return False
    base = link.of
    while (inner := link_at(base, model)) is not None:
        base = inner.of
    if not isinstance(base, (ast.Name, ast.Attribute)):
        return False
    return model.types.type_of(link.of).tag in ARRAYS or (is_negated and not link.is_method)


def _is_negated(node: ast.expr, model: SemanticModel) -> bool:
    parent = model.parent(node)
    return isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub)


def _is_inside_another(node: ast.expr, model: SemanticModel) -> bool:
    """Whether the chain that continues it is repeated as well, so that the finding is reported there."""
    child: ast.AST = node
    for parent in model.ancestors(node):
        if not isinstance(parent, (ast.Attribute, ast.Call)):
            return False
        link = link_at(parent, model)
        if link is not None and child is not parent and len(model.dataflow.equal_to(parent)) > 1:
            return True
        child = parent
    return False
