"""What a part of an expression runs with."""

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
    """The whole that each part of an expression runs with. Whoever asks what stands around a part can begin
    there, and need not walk up from each part again.
    """

    def __init__(self, parents: Mapping[ast.AST, ast.AST]) -> None:
        self._parents = parents
        self._known: dict[ast.AST, ast.AST] = {}

    def of(self, node: ast.AST) -> ast.AST:
        """Return the node with the calls, operators and displays around it, up to a choice (`and`, `if`),
        a lambda, a comprehension, or the statement, if that does nothing but evaluate and bind. The node
        itself where none of them is around it.
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
