"""The calls of a project that walk sum trees, whichever file has the tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from rlint.models.value_type import Type, TypeTag
from rlint.semantics.dataflow.sum_trees.descent import read_from
from rlint.syntax.walk import descendants

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis
    from rlint.semantics.interprocedural.project_index import ProjectIndex
    from rlint.semantics.interprocedural.summary import FunctionSummary

TreeDirection = Literal["walks_down", "walks_up"]
"""The field of `FunctionSummary` that describes the descents, or the updates, of a function."""

_DEPTH: dict[TreeDirection, int] = {"walks_down": 4, "walks_up": 3}
"""Maximum number of nested calls. Methods that add one transition update the tree through more of them."""
_LINKED = Type(TypeTag.INSTANCE)
"""The storage of sums that are attributes of objects, which refer to one another."""


def storage_of(lower: ast.expr, analysis: FileAnalysis) -> Type | None:
    """Return the type of the container of a tree's sums, as far as the file determines it: an instance of no
    class for sums that are attributes of linked objects.
    """
    lower = read_from(lower)
    if isinstance(lower, ast.Name):
        function = analysis.syntax.function(lower)
        for node in descendants(function) if function is not None else ():
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == lower.id:
                    value = read_from(value)
                    container = _got_from(value)
                    if container is not None:
                        return analysis.types.type_of(container).aged()
                    if isinstance(value, (ast.Subscript, ast.Attribute)):
                        lower = value
                        break
    if isinstance(lower, ast.Attribute):
        return _LINKED
    container = _got_from(lower)
    if container is not None:
        return analysis.types.type_of(container).aged()
    return analysis.types.type_of(lower.value).aged() if isinstance(lower, ast.Subscript) else None


def _got_from(value: ast.expr) -> ast.expr | None:
    """Return the dict of `sums.get(node, 0.0)`."""
    match value:
        case ast.Call(func=ast.Attribute(value=container, attr="get"), args=[_, *_]):
            return container
    return None


class SumTreeUses:
    """The calls of a project that descend or update sum trees."""

    def __init__(self, index: ProjectIndex) -> None:
        self.index = index
        self._known: dict[tuple[str, int, TreeDirection], list[Type]] = {}

    def of(self, path: str, module: str, way: TreeDirection) -> list[Type]:
        """Return the containers of the sum trees that a call of an access path walks once."""
        return self._called(path, module, way, _DEPTH[way]) if self.any else []

    def walkers(self, path: str, module: str, way: TreeDirection) -> list[FunctionSummary]:
        """Return the functions that walk the trees for a call of an access path, themselves or by calls."""
        return list(self._walkers(path, module, way, _DEPTH[way])) if self.any else []

    def _walkers(self, path: str, module: str, way: TreeDirection, depth: int) -> Iterator[FunctionSummary]:
        for target in self.index.callables(path, module):
            if getattr(target, way) is not None:
                yield target
            elif depth > 1 and self._walked_in(target, way, depth):
                for site in target.calls:
                    if site.loop == -1 and site.path:
                        yield from self._walkers(site.path, target.module, way, depth - 1)

    @cached_property
    def any(self) -> bool:
        """Whether any function of the project walks such a tree."""
        modules = self.index.modules.values()
        return any(
            function.walks_down is not None or function.walks_up is not None
            for module in modules
            for function in module.functions.values()
        )

    def _called(self, path: str, module: str, way: TreeDirection, depth: int) -> list[Type]:
        return [
            kind for each in self.index.callables(path, module) for kind in self._walked_in(each, way, depth)
        ]

    def _walked_in(self, target: FunctionSummary, way: TreeDirection, depth: int) -> list[Type]:
        kind: Type | None = getattr(target, way)
        if kind is not None:
            return [self.index.resolve(kind.of, target.module) if not kind and kind.of else kind]
        known = self._known.get((target.path, depth, way))
        if known is None:
            calls = (site for site in target.calls if site.loop == -1 and site.path) if depth > 1 else ()
            known = self._known[target.path, depth, way] = [
                kind for site in calls for kind in self._called(site.path, target.module, way, depth - 1)
            ]
        return known
