"""Functions that only look for the place of an argument among the rows of an array."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection

from rlint import models
from rlint.models.trait import Trait
from rlint.models.vocabulary import SHORT_NAMES
from rlint.syntax.walk import descendants

_FINDS = models.having(Trait.GIVES_INDEX, "numpy") | {
    "numpy.argwhere",
    "numpy.flatnonzero",
    "numpy.nonzero",
}
_MOST_STATEMENTS = 4
_NOTHING = ("", "")


def parameter_searched_for(
    function: ast.AST, parameters: Collection[str], qualified: Callable[[ast.expr], str | None]
) -> tuple[str, str]:
    """Return the parameter of which a short function finds the place, by one operation on a whole array, and
    the attribute that holds the array: `place` and `rows` of `np.argmin(np.linalg.norm(self.rows - place,
    axis=1))`. Both are "" if it does anything else.
    """
    if not isinstance(function, ast.FunctionDef) or len(function.body) > _MOST_STATEMENTS:
        return _NOTHING
    if not all(_is_plain(statement) for statement in function.body):
        return _NOTHING
    for statement in function.body:
        for node in descendants(statement):
            if isinstance(node, ast.Call) and len(node.args) == 1 and _named(node.func, qualified) in _FINDS:
                found = _subtracted(node.args[0], parameters)
                if found != _NOTHING:
                    return found
    return _NOTHING


def _named(called: ast.expr, qualified: Callable[[ast.expr], str | None]) -> str | None:
    """Return the qualified name of a function, also of `np.argmin` where `np` comes by a star import, whose
    names are not known yet.
    """
    match called:
        case ast.Attribute(value=ast.Name(id=short), attr=name) if short in SHORT_NAMES:
            return qualified(called) or f"{SHORT_NAMES[short]}.{name}"
    return qualified(called)


def _is_plain(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Assign, ast.Return)) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _subtracted(searched: ast.expr, parameters: Collection[str]) -> tuple[str, str]:
    """Return the parameter that an array is compared with, or that is subtracted from it, and the attribute
    that holds the array: `self.rows - place`, `self.rows == place`.
    """
    for node in descendants(searched):
        match node:
            case (
                ast.BinOp(op=ast.Sub(), left=first, right=second)
                | ast.Compare(left=first, ops=[ast.Eq()], comparators=[second])
            ):
                for given, rows in ((second, first), (first, second)):
                    held = _attribute(rows)
                    if isinstance(given, ast.Name) and given.id in parameters and held:
                        return given.id, held
    return _NOTHING


def _attribute(rows: ast.expr) -> str:
    """Return the name of an attribute, or of the one whose item an operand is."""
    while isinstance(rows, ast.Subscript):
        rows = rows.value
    return rows.attr if isinstance(rows, ast.Attribute) else ""
