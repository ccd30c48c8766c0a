"""The whole expression with which a part of it is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Mapping

_RUNS_WITH_PARTS = frozenset(
    {
        ast.AnnAssign,
        ast.Assign,
        ast.Attribute,
        ast.AugAssign,
        ast.Await,
        ast.BinOp,
        ast.Call,
        ast.Compare,
        ast.Dict,
        ast.Expr,
        ast.FormattedValue,
        ast.JoinedStr,
        ast.List,
        ast.NamedExpr,
        ast.Return,
        ast.Set,
        ast.Slice,
        ast.Starred,
        ast.Subscript,
        ast.Tuple,
        ast.UnaryOp,
        ast.keyword,
    }
)


class EvaluationRoots:
    """The whole expression with which each part of it is evaluated. Queries about the context of a part can
    start there, instead of walking up from each part again.
    """

    def __init__(self, parents: Mapping[ast.AST, ast.AST]) -> None:
        self._parents = parents
        self._known: dict[ast.AST, ast.AST] = {}

    def of(self, node: ast.AST) -> ast.AST:
        """Return the outermost of the enclosing calls, operators and displays, up to a choice (`and`, `if`),
        a lambda, a comprehension, or the statement, if that only evaluates and binds. The node itself if
        there is none.
        """
        parents, known = self._parents, self._known
        whole = known.get(node)
        if whole is not None:
            return whole
        passed: list[ast.AST] = []
        while whole is None:
            passed.append(node)
            parent = parents.get(node)
            if parent is None or type(parent) not in _RUNS_WITH_PARTS:
                whole = node
            else:
                node = parent
                whole = known.get(node)
        for part in passed:
            known[part] = whole
        return whole
