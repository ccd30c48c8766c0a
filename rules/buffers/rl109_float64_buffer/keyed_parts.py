"""Nodes that access an entry of a dict of storages, by its key or by a variable for any key."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import COMPREHENSIONS, FUNCTIONS, AnyLoop, SemanticModel, is_in

_LOOPS = (ast.For, ast.AsyncFor, *COMPREHENSIONS)


def keyed_parts(use: ast.Attribute, key: str, model: SemanticModel) -> list[ast.expr]:
    """Return the nodes that access an entry, given a use of its dict: `rows["states"]`, `rows[name]`, the
    variable for the values in a loop over `rows.items()`.
    """
    match model.parent(use):
        case ast.Subscript(value=owner, slice=ast.Constant(value=other)) as part if owner is use:
            return [part] if other == key else []
        case ast.Subscript(value=owner, slice=index) as part if owner is use:
            return [part] if _may_be(index, key, part, model) else []
        case ast.Attribute(attr="items" | "values") as called:
            return [part for part, name in _values(called, model) if _may_be(name, key, part, model)]
    return []


def _values(called: ast.Attribute, model: SemanticModel) -> Iterator[tuple[ast.Name, ast.expr | None]]:
    """Yield the reads of the loop variable for the values of a dict, each with the variable for the keys."""
    call = model.syntax.call_of(called)
    around = next((node for node in model.ancestors(called) if isinstance(node, _LOOPS)), None)
    if call is None or around is None:
        return
    for target, iterable, _ in _headers(around):
        if iterable is not call:
            continue
        name: ast.expr | None = None
        match called.attr, target:
            case "items", ast.Tuple(elts=[key, ast.Name(id=variable)]):
                name = key
            case "values", ast.Name(id=variable):
                pass
            case _:
                continue
        scope = model.names.scope(target).lookup(variable)
        reads = model.names.reads(variable, scope) if scope is not None else []
        yield from ((read, name) for read in reads if is_in(read, around))


def _may_be(index: ast.expr | None, key: str, part: ast.expr, model: SemanticModel) -> bool:
    """Whether a variable may be a key where a node uses it, by the conditions around the node and by the
    loop that sets the variable.
    """
    if not isinstance(index, ast.Name):
        return True
    child: ast.AST = part
    for around in model.ancestors(part):
        match around:
            case ast.If(test=test, body=body, orelse=orelse):
                if not _agrees(holds=_holds(test, index.id, key), then=child in body, other=child in orelse):
                    return False
            case ast.IfExp(test=test, body=then, orelse=other):
                if not _agrees(holds=_holds(test, index.id, key), then=child is then, other=child is other):
                    return False
            case _ if isinstance(around, FUNCTIONS):
                return True
            case _ if isinstance(around, _LOOPS):
                for target, iterable, conditions in _headers(around):
                    if any(_holds(test, index.id, key) is False for test in conditions):
                        return False
                    if isinstance(target, ast.Name) and target.id == index.id:
                        return _may_contain(iterable, key)
        child = around
    return True


def _headers(loop: AnyLoop) -> Iterator[tuple[ast.expr, ast.expr, list[ast.expr]]]:
    """Yield the targets, iterables and conditions of a loop or comprehension, innermost first."""
    if isinstance(loop, (ast.For, ast.AsyncFor)):
        yield loop.target, loop.iter, []
    elif isinstance(loop, COMPREHENSIONS):
        for part in reversed(loop.generators):
            yield part.target, part.iter, part.ifs


def _agrees(*, holds: bool | None, then: bool, other: bool) -> bool:
    """Whether a branch may run, given whether the condition holds."""
    return not (then and holds is False) and not (other and holds is True)


def _holds(test: ast.expr, name: str, key: str) -> bool | None:
    """Whether a condition holds if a variable is a key, None if other values decide."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            holds = _holds(operand, name, key)
            return None if holds is None else not holds
        case ast.BoolOp(op=op, values=values):
            each = [_holds(value, name, key) for value in values]
            decided = isinstance(op, ast.Or)
            if decided in each:
                return decided
            return None if None in each else not decided
        case ast.Compare(left=ast.Name(id=tested), ops=[op], comparators=[other]) if tested == name:
            match op, other:
                case ((ast.Eq() | ast.NotEq()), ast.Constant(value=str() as wanted)):
                    return (key == wanted) is isinstance(op, ast.Eq)
                case ((ast.In() | ast.NotIn()), _) if (listed := _listed(other)) is not None:
                    return (key in listed) is isinstance(op, ast.In)
    return None


def _may_contain(iterable: ast.expr, key: str) -> bool:
    """Whether an iterable may contain a key: not if it is a display without it."""
    listed = _listed(iterable)
    return listed is None or key in listed


def _listed(display: ast.expr) -> list[object] | None:
    """Return the elements of a tuple, list or set that only contains constants."""
    if not isinstance(display, (ast.Tuple, ast.List, ast.Set)):
        return None
    found: list[object] = [part.value for part in display.elts if isinstance(part, ast.Constant)]
    return found if len(found) == len(display.elts) else None
