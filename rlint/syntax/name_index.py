"""The nodes of a file by the names in them, so that searches for a few names need no walk."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.syntax.walk import place_in_order

if TYPE_CHECKING:
    from rlint.syntax.syntax_index import SyntaxIndex


class NameIndex:
    """The calls, attributes, items and `return`s of one file. All lists are in source order."""

    def __init__(self, tree: SyntaxIndex) -> None:
        self._tree = tree

    def calls_of(self, names: Iterable[str]) -> list[ast.Call]:
        """Return the calls whose callee has one of these last names."""
        every = self.calls
        found = [call for name in names for call in every.get(name, ())]
        return sorted(found, key=place_in_order)

    @cached_property
    def calls(self) -> dict[str, list[ast.Call]]:
        """Return the calls by the last name of the callee, "" if it has none, as in `makers[0]()`."""
        found: defaultdict[str, list[ast.Call]] = defaultdict(list)
        for call in self._tree.of_type(ast.Call):
            called = call.func
            if isinstance(called, ast.Attribute):
                name = called.attr
            else:
                name = called.id if isinstance(called, ast.Name) else ""
            found[name].append(call)
        return dict(found)

    @cached_property
    def attributes(self) -> dict[str, list[ast.Attribute]]:
        """Return the attributes by their names."""
        found: defaultdict[str, list[ast.Attribute]] = defaultdict(list)
        for node in self._tree.of_type(ast.Attribute):
            found[node.attr].append(node)
        return dict(found)

    @cached_property
    def returns(self) -> dict[ast.AST | None, list[ast.Return]]:
        """Return the `return`s of each function."""
        found: dict[ast.AST | None, list[ast.Return]] = {}
        for node in self._tree.of_type(ast.Return):
            found.setdefault(self._tree.function(node), []).append(node)
        return found

    @cached_property
    def attribute_stores(self) -> list[ast.Attribute]:
        """Return the attributes that are set or deleted."""
        return [node for node in self._tree.of_type(ast.Attribute) if type(node.ctx) is not ast.Load]

    @cached_property
    def item_stores(self) -> list[ast.Subscript]:
        """Return the items that are set or deleted."""
        return [node for node in self._tree.of_type(ast.Subscript) if type(node.ctx) is not ast.Load]
