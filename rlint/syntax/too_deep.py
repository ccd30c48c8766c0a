"""Parts of a file that are nested so deeply in an expression that the code is generated."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rlint.syntax.walk import children, size_of

if TYPE_CHECKING:
    from rlint.syntax.syntax_index import SyntaxIndex

DEEPEST = 100
"""In more than 3000 files of projects and of Python's own library, no expression is nested deeper than 29."""

TOO_DEEP = 3 * DEEPEST
"""An expression deeper than this is skipped as a whole: fixing it layer by layer would take as many
passes.
"""

_HOLDERS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def buried_parts(tree: SyntaxIndex) -> Mapping[ast.AST, ast.AST]:
    """Return the parts of expressions that are nested deeper than DEEPEST, each with its ancestor at that
    depth. An analysis that walks from each part of an expression to its ends takes quadratic time in its
    depth; such an expression is generated, and nothing is reported in parts at this depth, nor in any part of
    one that is deeper than TOO_DEEP.
    """
    found: dict[ast.AST, ast.AST] = {}
    for kind, nodes in tree.nodes.items():
        if issubclass(kind, _HOLDERS):
            for holder in nodes:
                if size_of(holder) > DEEPEST:
                    for child in children(holder):
                        if not isinstance(child, _HOLDERS) and size_of(child) > DEEPEST:
                            _add_buried(child, tree.parents, found)
    return found


def _add_buried(
    expression: ast.AST, parents: Mapping[ast.AST, ast.AST], found: dict[ast.AST, ast.AST]
) -> None:
    known = expression.__dict__
    nodes = known["_order"][known["_start"] : known["_end"]]
    depths = {expression: 1}
    for node in nodes[1:]:
        parent = parents[node]
        depth = depths[node] = depths[parent] + 1
        if depth > DEEPEST:
            found[node] = found.get(parent, parent)
    if max(depths.values()) > TOO_DEEP:
        found.update(dict.fromkeys(nodes, expression))
