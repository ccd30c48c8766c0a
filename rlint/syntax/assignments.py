"""Values and targets of assignments, including multiple and tuple assignments."""

from __future__ import annotations

import ast
from collections.abc import Mapping


def targets_of(value: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> list[ast.expr]:
    """Return the targets that are assigned the value of an expression: `x`, `self.x` in `x = self.x = value`,
    and `b` in `a, b = other, value`. Empty if the expression is not assigned.
    """
    match parents.get(value):
        case ast.Assign(targets=targets, value=given) if given is value:
            return list(targets)
        case ast.AnnAssign(target=target, value=given) | ast.NamedExpr(target=target, value=given):
            return [target] if given is value else []
        case ast.Tuple(elts=values) | ast.List(elts=values) as several if not _has_star(values):
            match parents.get(several):
                case ast.Assign(targets=targets, value=given) if given is several:
                    place = next(index for index, each in enumerate(values) if each is value)
                    return [
                        target.elts[place]
                        for target in targets
                        if isinstance(target, (ast.Tuple, ast.List))
                        and len(target.elts) == len(values)
                        and not _has_star(target.elts)
                    ]
    return []


def value_assigned(target: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> ast.expr | None:
    """Return the value that an assignment gives a target: `value` in `x: int = value`, in `a, target = other,
    value`. None if the target is unpacked, bound otherwise, or not a target.
    """
    match parents.get(target):
        case ast.Assign(targets=targets, value=value) if any(each is target for each in targets):
            return value
        case ast.AnnAssign(target=own, value=value) | ast.NamedExpr(target=own, value=value) if own is target:
            return value
        case ast.Tuple(elts=targets) | ast.List(elts=targets) as several if not _has_star(targets):
            match parents.get(several):
                case ast.Assign(value=ast.Tuple(elts=values) | ast.List(elts=values) as given) if (
                    given is not several and len(values) == len(targets) and not _has_star(values)
                ):
                    return next(v for t, v in zip(targets, values, strict=True) if t is target)
    return None


def _has_star(elements: list[ast.expr]) -> bool:
    return any(isinstance(element, ast.Starred) for element in elements)


def place_assigned(
    target: ast.AST, parents: Mapping[ast.AST, ast.AST]
) -> tuple[ast.expr, tuple[int, ...]] | None:
    """Return what an assignment unpacks into a target, and the path to its part: `value` and (1,) for `a,
    target = value`. None if it is not written with one target for each part.
    """
    path: list[int] = []
    node, above = target, parents.get(target)
    while isinstance(above, (ast.Tuple, ast.List)):
        place = next(index for index, each in enumerate(above.elts) if each is node)
        if _has_star(above.elts[: place + 1]):
            return None
        path.append(place)
        node, above = above, parents.get(above)
    if isinstance(above, ast.Assign) and any(each is node for each in above.targets):
        return above.value, tuple(reversed(path))
    return None
