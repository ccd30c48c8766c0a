"""Regions: the code around a change that is recorded and replayed, a whole function or some statements of
it.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rlint.prove.plan.changed_code import FUNCTIONS, BlockPlace, ChangedCode, Level, node_at
from rlint.prove.plan.liveness import BlockStep, live_after, loads, stores

_MOST_FOLLOWING = 12
"""Maximum number of following statements that a region includes until nothing reads what the fix may have
changed.
"""


@dataclass(frozen=True)
class Region:
    """Statements to record and replay, in the text before and after a fix."""

    before: BlockPlace
    after: BlockPlace
    scope: tuple[BlockStep, ...]
    """Steps to the enclosing function; empty for module-level code."""
    whole: bool
    """They are all statements of a function."""
    closed: bool
    """No code after them reads what the fix may change."""
    names: tuple[str, ...]
    """All names in them, of which the bound ones are recorded."""
    live: tuple[str, ...]
    """Names that they bind and that are read after them."""
    where: str
    """The location as shown to users: `Agent.act`."""
    lines: tuple[int, int] = (0, 0)
    further: bool = False
    """It includes code that uses the values which the fix changes: the values may differ although the results
    computed from them do not.
    """
    suspends: bool = False
    """It yields or awaits, so that other code runs meanwhile."""
    yields: bool = False
    refusal: str = ""
    """Why they cannot be replayed."""


@dataclass(frozen=True)
class RegionUse:
    """A region by which a change may be proven, and the number under which it is recorded."""

    number: int
    region: Region


def candidates(change: ChangedCode, before: ast.Module, after: ast.Module) -> list[Region]:
    """Return the regions by which a change can be proven, the best first: the function, then less and less of
    the code around the changed statements.
    """
    functions: list[Region] = []
    parts: list[Region] = []
    for level in change.levels:
        one = _whole(level, before, after)
        if one is not None and all(each.before != one.before for each in functions):
            functions.insert(0, one)
    for level in reversed(change.levels):
        for further in (False, True):
            found = _grown(level, before, after, further=further)
            if found is not None and all(each.before != found.before for each in (*functions, *parts)):
                parts.append(found)
    if change.whole:
        return functions
    closed = [one for one in parts if one.closed]
    opened = [one for one in parts if not one.closed]
    return [*functions, *closed, *opened]


def _whole(level: Level, before: ast.Module, after: ast.Module) -> Region | None:
    """Return all of the innermost function around a level."""
    steps = _function_around(before, level.before.steps)
    other = _function_around(after, level.after.steps)
    if steps is None or other is None:
        return None
    nodes = node_at(before, steps), node_at(after, other)
    starts = [_first_statement(node) for node in nodes]
    stops = [len(node.body) for node in nodes]  # type: ignore[attr-defined]
    if any(start >= stop for start, stop in zip(starts, stops, strict=True)):
        return None
    places = [
        BlockPlace(where, "body", start, stop)
        for where, start, stop in zip((steps, other), starts, stops, strict=True)
    ]
    return _region(places, steps, before, after, whole=True, closed=True)


def _first_statement(node: ast.AST) -> int:
    """Return the position of the first statement after the docstring."""
    body = node.body  # type: ignore[attr-defined]
    return int(
        bool(body)
        and isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    )


def _function_around(tree: ast.Module, steps: Sequence[BlockStep]) -> tuple[BlockStep, ...] | None:
    """Return the steps to the innermost function on a path; None for code of a module or a class."""
    for length in range(len(steps), 0, -1):
        node = node_at(tree, steps[:length])
        if isinstance(node, FUNCTIONS):
            return tuple(steps[:length])
        if isinstance(node, ast.ClassDef):
            return None
    return None


def _grown(level: Level, before: ast.Module, after: ast.Module, *, further: bool) -> Region | None:
    """Return the changed statements of a block, with those that follow until nothing reads what they may have
    changed.
    """
    block = getattr(node_at(before, level.before.steps), level.before.block)
    others = getattr(node_at(after, level.after.steps), level.after.block)
    if isinstance(node_at(before, level.before.steps), ast.ClassDef):
        return None
    if any(
        isinstance(one, (ast.ClassDef, *FUNCTIONS)) for one in block[level.before.start : level.before.stop]
    ):
        return None
    first, stop, other_stop = level.before.start, level.before.stop, level.after.stop
    if first == stop and stop < len(block):  # code is only added
        stop, other_stop = stop + 1, other_stop + 1
    other_first = level.after.start
    if first == stop:
        if first == 0:
            return None
        first, other_first = first - 1, other_first - 1
    changed = stores(block[first:stop]) | stores(others[other_first:other_stop])
    scope = _function_around(before, level.before.steps) or ()
    inner = level.before.steps[len(scope) :]
    closed = False
    for end in range(stop, min(len(block), stop + _MOST_FOLLOWING) + 1):
        read = live_after(node_at(before, scope), inner, level.before.block, end)
        if not scope:
            read |= _read_by_functions(before)
        if not read & changed:
            stop, other_stop, closed = end, other_stop + end - stop, True
            break
    if further:
        if (
            not closed
            or stop >= len(block)
            or not loads([block[stop]]) & _derived(block[first:stop], changed)
        ):
            return None
        stop, other_stop = stop + 1, other_stop + 1
    places = [
        BlockPlace(level.before.steps, level.before.block, first, stop),
        BlockPlace(level.after.steps, level.after.block, other_first, other_stop),
    ]
    found = _region(places, scope, before, after, whole=False, closed=closed)
    return dataclasses.replace(found, further=further)


def _derived(block: Sequence[ast.stmt], changed: frozenset[str]) -> frozenset[str]:
    """Return the names whose values are computed from changed ones."""
    for statement in block:
        if loads([statement]) & changed:
            changed |= stores([statement])
    return changed


def _read_by_functions(tree: ast.Module) -> frozenset[str]:
    return frozenset().union(*(loads([one]) for one in ast.walk(tree) if isinstance(one, FUNCTIONS)))


def _region(
    places: Sequence[BlockPlace],
    scope: tuple[BlockStep, ...],
    before: ast.Module,
    after: ast.Module,
    *,
    whole: bool,
    closed: bool,
) -> Region:
    place, other = places
    ours, counterpart = statements(before, place), statements(after, other)
    names = loads([*ours, *counterpart]) | stores([*ours, *counterpart])
    node = node_at(before, scope)
    inner = place.steps[len(scope) :]
    read = live_after(node, inner, place.block, place.stop) if not whole else frozenset()
    if not scope:
        read |= _read_by_functions(before)
    live = (stores(ours) | stores(counterpart)) & read
    if whole:
        arguments = node.args  # type: ignore[attr-defined]
        names |= {one.arg for one in ast.walk(arguments) if isinstance(one, ast.arg)}
    return Region(
        place,
        other,
        scope,
        whole,
        closed,
        tuple(sorted(names)),
        tuple(sorted(live)),
        ".".join(_names(before, place.steps)) or "the module",
        (ours[0].lineno, ours[-1].end_lineno or ours[-1].lineno) if ours else (0, 0),
        suspends=any(isinstance(one, (ast.Yield, ast.Await)) for one in own_nodes([*ours, *counterpart])),
        yields=any(isinstance(one, ast.Yield) for one in own_nodes([*ours, *counterpart])),
        refusal=_refusal([*ours, *counterpart]),
    )


def statements(tree: ast.Module, place: BlockPlace) -> list[ast.stmt]:
    """Return the statements of a place."""
    found: list[ast.stmt] = getattr(node_at(tree, place.steps), place.block)[place.start : place.stop]
    return found


def _names(tree: ast.Module, steps: Sequence[BlockStep]) -> Iterator[str]:
    for length in range(1, len(steps) + 1):
        node = node_at(tree, steps[:length])
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node.name


def _refusal(found: Sequence[ast.stmt]) -> str:
    yields = awaits = False
    for node in own_nodes(found):
        if isinstance(node, ast.YieldFrom):
            return "it delegates to another generator, whose values cannot be recorded"
        if isinstance(node, (ast.AsyncFor, ast.AsyncWith)):
            return "other coroutines decide when it resumes (`async for`, `async with`)"
        if isinstance(node, _COMPREHENSIONS) and any(isinstance(one, ast.Await) for one in ast.walk(node)):
            return "it awaits other coroutines in a comprehension"
        yields |= isinstance(node, ast.Yield)
        awaits |= isinstance(node, ast.Await)
    if yields and awaits:
        return "it is an asynchronous generator"
    return ""


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def own_nodes(found: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes of statements, without the bodies of functions and classes within them."""
    pending: list[ast.AST] = list(found)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            pending.extend(ast.iter_child_nodes(node))
