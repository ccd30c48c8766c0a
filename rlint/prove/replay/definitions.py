"""The definitions of a script, without the code that runs them: it would repeat the training."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from rlint.prove.plan.liveness import loads, stores

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)


def definitions(tree: ast.Module, wanted: Iterable[str] = ()) -> ast.Module:
    """Return a module with the imports, functions and classes of a script, and with the assignments that
    these, or the `wanted` names, need.
    """
    needed = {name for node in tree.body for name in _read_at_definition(node)} | set(wanted)
    while True:
        more = {
            name for node in tree.body if _assigns(node) and stores([node]) & needed for name in loads([node])
        }
        if more <= needed:
            break
        needed |= more
    kept = [node for node in tree.body if _is_kept(node, needed)]
    return ast.Module(kept, [])


def _is_kept(node: ast.stmt, needed: set[str]) -> bool:
    if isinstance(node, (*_DEFINITIONS, *_IMPORTS)):
        return True
    if isinstance(node, (ast.If, ast.Try)):
        if isinstance(node, ast.If) and "__name__" in loads([node.test]):
            return False
        inner = [one for name in ("body", "orelse", "finalbody") for one in getattr(node, name, [])]
        return all(isinstance(one, (*_DEFINITIONS, *_IMPORTS)) or _assigns(one) for one in inner) and any(
            isinstance(one, (*_DEFINITIONS, *_IMPORTS)) or stores([one]) & needed for one in inner
        )
    return _assigns(node) and bool(stores([node]) & needed)


def _assigns(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None


def _read_at_definition(node: ast.stmt) -> set[str]:
    """Return the names that a definition reads at once: in decorators, defaults, bases, and class bodies."""
    if isinstance(node, ast.ClassDef):
        parts: list[ast.AST] = [*node.decorator_list, *node.bases, *node.keywords]
        found = set(loads(parts))
        for one in node.body:
            found |= _read_at_definition(one) if isinstance(one, _DEFINITIONS) else set(loads([one]))
        return found
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        arguments = node.args
        given = [*node.decorator_list, *arguments.defaults, *(one for one in arguments.kw_defaults if one)]
        notes = [one.annotation for one in ast.walk(arguments) if isinstance(one, ast.arg) and one.annotation]
        return set(loads([*given, *notes, *([node.returns] if node.returns else [])]))
    return set()
