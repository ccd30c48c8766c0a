"""The nodes below a node, without repeated walks."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.parsing.later_nodes import LATER_FIELDS, TYPE_ALIAS

RUN_LATER = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, TYPE_ALIAS})
"""Nodes whose content does not run with the code around it."""

_PLAIN = {
    ast.Attribute: {"attr"},
    ast.Constant: {"value", "kind"},
    ast.FormattedValue: {"conversion"},
    ast.ImportFrom: {"module", "level"},
    ast.Name: {"id"},
    ast.alias: {"name", "asname"},
    ast.arg: {"arg", "type_comment"},
    ast.comprehension: {"is_async"},
    ast.keyword: {"arg"},
}
"""Fields of frequent nodes that contain no nodes."""

_SHARED = {"ctx", "op", "ops"}
"""Operators and contexts are shared between the nodes of all files: they have no position. An attribute set
on them would keep a file alive.
"""

_MIXED = frozenset({"keys", "kw_defaults", "kwd_attrs", "names"})
"""Fields with lists that contain other items than nodes: a name, or None for a missing default or key."""


class _Parts(dict[type[ast.AST], tuple[str, ...]]):
    """For each type of node the fields that may contain nodes of its own."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        plain = _PLAIN.get(kind, set()) | _SHARED
        fields = dict.fromkeys((*kind._fields, *LATER_FIELDS.get(kind, ())))
        found = self[kind] = tuple(name for name in fields if name not in plain)
        return found


class _ReversedParts(dict[type[ast.AST], tuple[str, ...]]):
    """The same fields in reverse order, for a stack."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        found = self[kind] = PARTS[kind][::-1]
        return found


PARTS, REVERSED_PARTS = _Parts(), _ReversedParts()


def descendants(node: ast.AST) -> list[ast.AST]:
    """Return a node and all nodes in it, in source order (of a dict display: all keys, then all values).
    Operators and contexts, which are shared between nodes, are not included.
    """
    known = node.__dict__
    order: list[ast.AST] | None = known.get("_order")
    if order is None:  # not a part of a parsed file: created by other code, or shared
        return list(ast.walk(node))
    start: int = known["_start"]
    end: int = known["_end"]
    return order[start:end]


def names_bound(node: ast.AST) -> tuple[str, ...]:
    """Return the names that running a node binds or deletes, without its children."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return (name,)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case (
            ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
            | ast.MatchMapping(rest=str(name))
        ):
            return (name,)
        case ast.alias(name=name, asname=other):
            return (other or name.partition(".")[0],)
    return ()


def is_in(node: ast.AST, part: ast.AST) -> bool:
    """Whether a node is part of another one."""
    around = part.__dict__
    start: int = around["_start"]
    end: int = around["_end"]
    own: int = node.__dict__["_start"]
    return start <= own < end


def is_in_block(node: ast.AST, block: Sequence[ast.AST]) -> bool:
    """Whether a node is a statement of a block, or part of one."""
    own: int = node.__dict__["_start"]
    return bool(block) and block[0].__dict__["_start"] <= own < block[-1].__dict__["_end"]


def place_in_order(node: ast.AST) -> int:
    """Return the number of nodes of a file before one in source order."""
    place: int = node.__dict__["_start"]
    return place


def end_in_order(node: ast.AST) -> int:
    """Return the number of nodes of a file that begin before the end of one in source order."""
    end: int = node.__dict__["_end"]
    return end


def size_of(node: ast.AST) -> int:
    """Return the number of nodes in a subtree; 0 for synthetic nodes."""
    known = node.__dict__
    start: int = known.get("_start", 0)
    end: int = known.get("_end", 0)
    return end - start


def children(node: ast.AST) -> list[ast.AST]:
    """Return the direct children of a node, in source order, without operators and contexts."""
    found: list[ast.AST] = []
    fields = node.__dict__
    for name in PARTS[type(node)]:
        value = fields.get(name)
        if type(value) is list:
            if name in _MIXED:
                found += [child for child in value if isinstance(child, ast.AST)]
            else:
                found += value
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def running(part: ast.AST) -> list[ast.AST]:
    """Return the nodes that run when a part does, in source order: definitions in it, but not their
    bodies.
    """
    known = part.__dict__
    order: list[ast.AST] = known["_order"]
    position: int = known["_start"]
    end: int = known["_end"]
    found: list[ast.AST] = []
    while position < end:
        node = order[position]
        found.append(node)
        position = node.__dict__["_end"] if type(node) in RUN_LATER else position + 1
    return found
