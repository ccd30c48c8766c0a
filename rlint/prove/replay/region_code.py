"""Convert the statements of a region to a function of the names that were bound at its start."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from types import GeneratorType, ModuleType
from typing import Any

from rlint.prove.plan.changed_code import FUNCTIONS, node_at
from rlint.prove.plan.liveness import stores
from rlint.prove.plan.regions import Region, statements
from rlint.prove.replay.suspensions import awaited, driven

_FACTORY, _REGION, _AWAITED = "__rlint_factory__", "__rlint_region__", "__rlint_awaited__"
END, RETURN, BREAK, CONTINUE = "the end", "return", "break", "continue"
"""The ways in which a region can end."""
Call = Callable[[dict[str, Any]], tuple[str, Any, dict[str, Any]]]


class RegionCode:
    """A region in one text, which can be called in the module that was loaded from that text."""

    def __init__(self, text: str, path: str, region: Region, *, after: bool) -> None:
        self._tree = ast.parse(text, path)
        self._path = path
        self._region = region
        self._place = region.after if after else region.before
        self._bodies = statements(self._tree, self._place)
        self._scope = self._function()

    @property
    def reads(self) -> frozenset[str]:
        """Return all names of the region, which its module has to define."""
        return frozenset(
            one.id for node in self._bodies for one in ast.walk(node) if isinstance(one, ast.Name)
        )

    def bound_in(self, module: ModuleType, decorators: bool = False) -> Call:  # noqa: FBT001, FBT002
        """Return a function that runs the region on the values of its names.

        With `decorators`, those of the enclosing function apply, if a fix changes them.
        """
        space = vars(module)
        if self._scope is None:
            declared = stores(self._bodies)
        else:
            declared = frozenset(
                name for node in ast.walk(self._scope) if isinstance(node, ast.Global) for name in node.names
            )
        owner = self._class(module)
        made: dict[tuple[str, ...], Any] = {}

        def call(held: dict[str, Any]) -> tuple[str, Any, dict[str, Any]]:
            if self._scope is None:
                space.update(held)
                given: dict[str, Any] = {}
            else:
                given = {name: value for name, value in held.items() if name not in declared}
            key = tuple(sorted(given))
            function = made.get(key)
            if function is None:
                function = made[key] = self._compiled(key, declared, space, owner, decorators=decorators)
            found = function(**given)
            if isinstance(found, GeneratorType):
                return driven(found)
            how, value, names = found
            return how, value, (space if self._scope is None else names)

        return call

    def _function(self) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        for length in range(len(self._place.steps), 0, -1):
            node = node_at(self._tree, self._place.steps[:length])
            if isinstance(node, FUNCTIONS):
                return node
        return None

    def _classes(self) -> list[str]:
        nodes = (node_at(self._tree, self._place.steps[:n]) for n in range(1, len(self._place.steps) + 1))
        return [node.name for node in nodes if isinstance(node, ast.ClassDef)]

    def _class(self, module: ModuleType) -> Any:
        """Return the class that the region's method belongs to, for `super()`."""
        found: Any = module
        for name in self._classes():
            found = getattr(found, name, None)
        return None if found is module else found

    def _compiled(
        self,
        names: Sequence[str],
        declared: frozenset[str],
        space: dict[str, Any],
        owner: Any,
        *,
        decorators: bool,
    ) -> Any:
        region = ast.parse(
            f"def {_FACTORY}(__class__, {_AWAITED}):\n"
            f" def {_REGION}({', '.join(names)}): pass\n return {_REGION}"
        )
        factory = region.body[0]
        assert isinstance(factory, ast.FunctionDef)
        function = factory.body[0]
        assert isinstance(function, ast.FunctionDef)
        copied = [_Exits(self._classes()).visit(copy.deepcopy(one)) for one in self._bodies]
        copied = [one for one in copied if one is not None]
        ended = ast.parse(f"({END!r}, None, locals())", mode="eval").body
        function.body = [*copied, ast.Return(ended)]
        if declared:
            function.body.insert(0, ast.Global(sorted(declared)))
        if decorators and self._scope is not None and not self._region.suspends:
            function.decorator_list = [
                copy.deepcopy(one)
                for one in self._scope.decorator_list
                if not (isinstance(one, ast.Name) and one.id in ("staticmethod", "classmethod", "property"))
            ]
        ast.fix_missing_locations(region)
        made: dict[str, Any] = {}
        exec(compile(region, self._path, "exec", dont_inherit=True), space, made)  # noqa: S102 - what is proven
        return made[_FACTORY](owner, awaited)


class _Exits(ast.NodeTransformer):
    """Convert jumps out of a region to return values, and private names to their mangled form."""

    def __init__(self, classes: Sequence[str]) -> None:
        self._owner = classes[-1].lstrip("_") if classes else ""
        self._loops = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return _Private(self._owner).visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return _Private(self._owner).visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return _Private(self._owner).visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return node

    def visit_For(self, node: ast.For) -> Any:
        return self._loop(node)

    def visit_While(self, node: ast.While) -> Any:
        return self._loop(node)

    def _loop(self, node: Any) -> Any:
        node.orelse = [self.visit(one) for one in node.orelse]
        self._loops += 1
        for name, value in ast.iter_fields(node):
            if name == "orelse":
                continue
            if isinstance(value, list):
                setattr(node, name, [self.visit(one) for one in value])
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        self._loops -= 1
        return node

    def visit_Return(self, node: ast.Return) -> Any:
        value = node.value or ast.Constant(None)
        value = self.visit(value)
        return ast.Return(ast.Tuple([ast.Constant(RETURN), value, ast.Dict([], [])], ast.Load()))

    def visit_Await(self, node: ast.Await) -> Any:
        self.generic_visit(node)
        return ast.Call(ast.Name(_AWAITED, ast.Load()), [node.value], [])

    def visit_Break(self, node: ast.Break) -> Any:
        return node if self._loops else _left(BREAK)

    def visit_Continue(self, node: ast.Continue) -> Any:
        return node if self._loops else _left(CONTINUE)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> Any:
        return ast.copy_location(ast.Pass(), node)

    def visit_Global(self, node: ast.Global) -> Any:
        return ast.copy_location(ast.Pass(), node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        return _mangled(node, self._owner)


def _left(how: str) -> ast.Return:
    """Return a jump out of the region to an enclosing loop."""
    return ast.Return(ast.parse(f"({how!r}, None, locals())", mode="eval").body)


class _Private(ast.NodeTransformer):
    def __init__(self, owner: str) -> None:
        self._owner = owner

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        return _mangled(node, self._owner)


def _mangled(node: ast.Attribute, owner: str) -> ast.Attribute:
    if owner and node.attr.startswith("__") and not node.attr.endswith("__"):
        node.attr = f"_{owner}{node.attr}"
    return node
