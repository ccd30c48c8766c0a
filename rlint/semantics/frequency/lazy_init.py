"""Lazy initialisation: code that a function runs at its first call only, after `if self._model is not None:
return`, or once for each key of a dict that keeps the results.
"""

from __future__ import annotations

import ast

from rlint.regex import regex
from rlint.syntax.queries import same_code
from rlint.syntax.syntax_index import Function
from rlint.syntax.walk import descendants

_SET_AND_CLEARED = regex(
    r"(^|_)(done|dones|terminated|truncated|terminal|over|finished|paused|stopped|closed)$"
)


def where_it_leaves(function: Function) -> ast.stmt | None:
    """Return the first statement of a function's body that returns if the object already exists: the
    statements after it run at the first call only.
    """
    for statement in function.body:
        if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Return):
            kept = _tested_attribute(statement.test) if not statement.orelse else None
            if kept is not None and _is_made(kept, function):
                return statement
    return None


def is_kept_by_key(test: ast.Compare, function: Function) -> bool:
    """Whether a function tests for a key of a dict that outlives its calls, and sets the key itself:
    `if key not in self._cache: self._cache[key] = …`.
    """
    key, kept = test.left, test.comparators[0]
    is_global = isinstance(kept, ast.Name) and kept.id.isupper()
    return (is_global or isinstance(kept, ast.Attribute)) and any(
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and same_code(node.value, kept)
        and same_code(node.slice, key)
        for node in descendants(function)
    )


def _tested_attribute(test: ast.expr) -> tuple[str, str] | None:
    """Return the object and its attribute that a condition tests for existence; "" as the object of a global
    name.
    """
    match test:
        case ast.Compare(left=kept, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            pass
        case ast.Call(
            func=ast.Name(id="hasattr"), args=[ast.Name(id=owner), ast.Constant(value=str(attribute))]
        ):
            return owner, attribute
        case _:
            kept = test
    match kept:
        case ast.Attribute(value=ast.Name(id=owner), attr=attribute):
            return owner, attribute
        case ast.Name(id=name):
            return "", name
    return None


def _is_made(kept: tuple[str, str], function: Function) -> bool:
    owner, name = kept
    if _SET_AND_CLEARED.search(name):
        return False
    nodes = descendants(function)
    if not owner and not any(isinstance(node, ast.Global) and name in node.names for node in nodes):
        return False
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(
            node.value, (ast.Call, ast.Dict, ast.Name, ast.Constant)
        ):
            for target in node.targets:
                match target:
                    case ast.Attribute(value=ast.Name(id=of), attr=attribute):
                        found = (of, attribute) == kept
                    case ast.Name(id=bound):
                        found = not owner and bound == name
                    case _:
                        found = False
                if found and not (isinstance(node.value, ast.Constant) and not node.value.value):
                    return True
        elif isinstance(node, ast.Call) and _written_flag(node) == kept:
            return True
    return False


def _written_flag(call: ast.Call) -> tuple[str, str] | None:
    """Return the object and the attribute of a buffer that a call writes to: `self.ready.fill_(True)`."""
    match call.func:
        case (
            ast.Attribute(
                value=ast.Attribute(
                    value=ast.Attribute(value=ast.Name(id=owner), attr=attribute), attr="data"
                ),
                attr="copy_" | "fill_",
            )
            | ast.Attribute(
                value=ast.Attribute(value=ast.Name(id=owner), attr=attribute), attr="copy_" | "fill_"
            )
        ):
            return owner, attribute
    return None
