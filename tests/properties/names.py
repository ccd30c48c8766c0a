"""The names that a program's text holds."""

from __future__ import annotations

import ast

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda)


def names_in(text: str) -> frozenset[str]:
    """All names that a text mentions, attributes aside."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.alias(name=name, asname=bound):
                found.add(bound or name.partition(".")[0])
            case ast.Global(names=several) | ast.Nonlocal(names=several):
                found.update(several)
    return frozenset(found)


def bound_in(node: ast.AST) -> list[str]:
    """The names that a statement binds, in order."""
    return list(
        dict.fromkeys(
            one.id
            for one in ast.walk(node)
            if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)
        )
    )


def read_in(node: ast.AST) -> list[str]:
    """The names that a statement reads, in order."""
    return list(
        dict.fromkeys(
            one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
        )
    )


def global_names(text: str) -> frozenset[str]:
    """The names that the statements of a module's own scope bind, and those that functions declare global."""
    found: set[str] = set()
    pending: list[ast.AST] = [ast.parse(text)]
    while pending:
        node = pending.pop()
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.alias(name=name, asname=bound):
                found.add(bound or name.partition(".")[0])
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                found.add(name)
        if isinstance(node, _SCOPES):
            found.update([node.name] if not isinstance(node, ast.Lambda) else [])
            found.update(n for one in ast.walk(node) if isinstance(one, ast.Global) for n in one.names)
        else:
            pending.extend(ast.iter_child_nodes(node))
    return frozenset(found)
