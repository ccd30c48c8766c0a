"""Liveness: local names that are read after a statement; the values of other variables after a region do not
matter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_EMPTY: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Exits:
    """Names that are read where the enclosing loop is left, or continues."""

    after: frozenset[str] = _EMPTY
    head: frozenset[str] = _EMPTY


def loads(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that are read or deleted within a node."""
    return frozenset(
        one.id
        for node in nodes
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Store)
    ) | frozenset(
        one.target.id
        for node in nodes
        for one in ast.walk(node)
        if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name)
    )


def stores(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that are bound within a node, without those of nested functions and classes."""
    found: set[str] = set()
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif (isinstance(node, ast.ExceptHandler) and node.name) or (
            isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name
        ):
            found.add(node.name)
        pending.extend(ast.iter_child_nodes(node))
    return frozenset(found)


def escaping(scope: ast.AST) -> frozenset[str]:
    """Return the names that functions within a scope read, whenever they are called, and declared globals."""
    found: set[str] = set()
    for node in ast.walk(scope):
        if node is not scope and isinstance(node, NESTED):
            found |= loads([node])
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found.update(node.names)
    return frozenset(found)


BlockStep = tuple[str, int]
"""A block of a statement (`body`, `orelse`, `finalbody`), and the position of a statement in it."""


def live_after(scope: ast.AST, steps: Sequence[BlockStep], block: str, stop: int) -> frozenset[str]:
    """Return the names that may be read after the statement before `stop` in a block of a scope.

    `steps` lead from the scope to the statement that contains the block.
    """
    out, exits = _EMPTY, _Exits()
    node = scope
    for name, place in steps:
        body = getattr(node, name)
        out = _live(body[place + 1 :], out, exits)
        node = body[place]
        out, exits = _inside(node, out, exits)
        # The entered block determines what follows it.
    return _live(getattr(node, block)[stop:], out, exits) | escaping(scope)


def _inside(node: ast.AST, out: frozenset[str], exits: _Exits) -> tuple[frozenset[str], _Exits]:
    """Return the names read after a block of a compound statement."""
    if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        head = _live([node], out, exits)
        return head | out, _Exits(out, head)
    if isinstance(node, ast.Try):
        rest = [*node.handlers, *node.orelse, *node.finalbody]
        return out | loads(rest), exits
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return _EMPTY, _Exits()
    return out, exits


def _live(block: Sequence[ast.AST], out: frozenset[str], exits: _Exits) -> frozenset[str]:
    for node in reversed(block):
        out = _before(node, out, exits)
    return out


def _before(node: ast.AST, out: frozenset[str], exits: _Exits) -> frozenset[str]:
    if isinstance(node, (ast.Return, ast.Raise)):
        return loads([node])
    if isinstance(node, ast.Break):
        return exits.after
    if isinstance(node, ast.Continue):
        return exits.head
    if isinstance(node, ast.If):
        return loads([node.test]) | _live(node.body, out, exits) | _live(node.orelse, out, exits)
    if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        return _before_loop(node, out, exits)
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return loads(node.items) | _live(node.body, out, exits)
    if isinstance(node, (ast.Try, ast.Match)) or type(node).__name__ == "TryStar":
        return out | loads([node])
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return (out - {node.name}) | loads([node])
    killed = (
        stores([node])
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom))
        else _EMPTY
    )
    return (out - killed) | loads([node])


def _before_loop(
    node: ast.For | ast.AsyncFor | ast.While, out: frozenset[str], exits: _Exits
) -> frozenset[str]:
    header = [node.test] if isinstance(node, ast.While) else [node.iter]
    bound = _EMPTY if isinstance(node, ast.While) else stores([node.target])
    ended = _live(node.orelse, out, exits)
    head = loads(header) | ended
    while True:
        body = _live(node.body, head, _Exits(out, head))
        grown = head | (body - bound)
        if grown == head:
            return head
        head = grown
