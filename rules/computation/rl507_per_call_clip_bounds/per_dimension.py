"""Loops that clamp one dimension after the other to separate bounds."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, descendants, last_name, same_code

_CLIPS = frozenset({"clip", "clamp"})


def clamped_dimension(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return `x` of `for d in range(n): x[..., d] = clamp(x[..., d], low[d], high[d])`."""
    if last_name(call.func) not in _CLIPS:
        return None
    match model.parent(call):
        case ast.Assign(targets=[ast.Subscript(value=held, slice=place)]) as statement:
            loop = model.parent(statement)
        case _:
            return None
    match loop:
        case ast.For(target=ast.Name(id=counter), iter=ast.Call(func=func)):
            if model.names.qualified(func) != "builtins.range":
                return None
        case _:
            return None
    if not _reads(place, {counter}) or statement is not loop.body[-1]:
        return None
    of_counter = {counter}
    for before in loop.body[:-1]:
        match before:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _reads(value, of_counter):
                of_counter.add(name)
            case _:
                return None
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if isinstance(call.func, ast.Attribute) and model.names.qualified(call.func) is None:
        given.insert(0, call.func.value)
    if len(given) < 2 or not all(_reads(end, of_counter) for end in given[1:]):
        return None
    match given[0]:
        case ast.Subscript(value=clamped, slice=part) if same_code(clamped, held) and same_code(part, place):
            pass
        case _:
            return None
    if any(same_code(node, held) for end in given[1:] for node in descendants(end)):
        return None  # bounds computed from an earlier clamped value
    return held


def _reads(value: ast.AST, names: set[str]) -> bool:
    return any(isinstance(node, ast.Name) and node.id in names for node in descendants(value))
