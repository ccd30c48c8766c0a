"""One tensor that is stacked several times: `torch.stack([x] * n)`, `torch.stack([x for _ in range(n)])`."""

from __future__ import annotations

import ast

from rlint.rule import (
    SemanticModel,
    descendants,
    variable_names,
)
from rlint.rules.networks.rl325_repeated_to_read.single_dimensions import constant, single_dimensions

_NEW = frozenset({"torch.stack"})
_ALONG = frozenset({"torch.cat", "torch.concat", "torch.concatenate"})


def stacked_tensor(call: ast.Call, model: SemanticModel) -> tuple[ast.expr, ast.expr | None] | None:
    """Return the tensor whose copies a call stacks, or concatenates along a dimension of size 1, and how
    many; None if it joins different tensors.
    """
    qualified = model.names.qualified(call.func) or ""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if (qualified not in _NEW and qualified not in _ALONG) or not given.keys() <= {"dim", "axis"}:
        return None
    copies = _same_each_time(call.args[0]) if call.args else None
    if copies is None:
        return None
    if qualified in _ALONG:
        dimension = given.get("dim", given.get("axis", call.args[1] if len(call.args) > 1 else None))
        place = 0 if dimension is None else constant(dimension, 0)
        if place is None or place < 0 or place not in single_dimensions(copies[0], place + 1, model):
            return None
    return copies


def _same_each_time(items: ast.expr) -> tuple[ast.expr, ast.expr | None] | None:
    match items:
        case ast.BinOp(left=ast.List(elts=[tensor]) | ast.Tuple(elts=[tensor]), op=ast.Mult(), right=count):
            return tensor, count
        case ast.BinOp(left=count, op=ast.Mult(), right=ast.List(elts=[tensor]) | ast.Tuple(elts=[tensor])):
            return tensor, count
        case (
            ast.ListComp(elt=tensor, generators=[ast.comprehension(target=target, iter=over, ifs=[])])
            | ast.GeneratorExp(elt=tensor, generators=[ast.comprehension(target=target, iter=over, ifs=[])])
        ):
            bound = variable_names(target)
            if any(
                isinstance(part, (ast.Call, ast.NamedExpr))
                or (isinstance(part, ast.Name) and part.id in bound)
                for part in descendants(tensor)
            ):
                return None
            return tensor, _length(over)
    return None


def _length(over: ast.expr) -> ast.expr | None:
    match over:
        case ast.Call(func=ast.Name(id="range"), args=[count]):
            return count
    return None
