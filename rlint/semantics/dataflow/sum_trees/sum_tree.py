"""Sum trees of prioritised replay buffers: descents from node to node to the leaf at a prefix sum, and
updates that climb from a leaf to the root.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from rlint.semantics.dataflow.sum_trees.sum_tree_update import climbed
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import same_code
from rlint.syntax.syntax_index import FUNCTIONS, LOOPS, Function, Loop, SyntaxIndex
from rlint.syntax.walk import descendants

if TYPE_CHECKING:
    from rlint.models.value_type import Type
    from rlint.semantics.file_analysis import FileAnalysis
    from rlint.semantics.interprocedural.project_index import ProjectIndex
    from rlint.semantics.interprocedural.summary import FunctionSummary

TreeDirection = Literal["walks_down", "walks_up"]
"""The field of `FunctionSummary` that describes the descents, or the updates, of a function."""

_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_HALVES = (ast.FloorDiv, ast.RShift)
_DEPTH: dict[TreeDirection, int] = {"walks_down": 4, "walks_up": 3}
"""Maximum number of nested calls. Methods that add one transition update the tree through more of them."""


class SumTreeWalks:
    """The descents and updates in one file: loops, and recursive functions, each with the expression that
    reads the sum below a node, or writes the sum of a node. Compiled functions are left out.
    """

    def __init__(self, syntax: SyntaxIndex) -> None:
        self.syntax = syntax
        self.loops: dict[Loop, ast.expr] = {}
        self.functions: dict[Function, ast.expr] = {}
        self.updating_loops: dict[Loop, ast.expr] = {}
        self.updating_functions: dict[Function, ast.expr] = {}
        self._find_updates()
        if not any(isinstance(node.op, ast.Sub) for node in syntax.of_type(ast.BinOp)) and not any(
            isinstance(node.op, ast.Sub) for node in syntax.of_type(ast.AugAssign)
        ):
            return
        for branch in syntax.of_type(ast.If):
            self._look_at(branch)

    def _look_at(self, branch: ast.If) -> None:
        """Recognise the choice between the left and the right child: `if wanted <= sums[left]`."""
        match branch.test:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, _ORDERS):
                pass
            case _:
                return
        function = self.syntax.function(branch)
        if function is None or _is_compiled(function):
            return
        for wanted, lower in ((left, right), (right, left)):
            if isinstance(wanted, ast.Name) and isinstance(lower, (ast.Subscript, ast.Name)):
                loop = self._loop_around(branch)
                if loop is not None and _walks_down(loop, wanted.id, lower):
                    self.loops[loop] = lower
                elif _calls_itself(function, wanted.id, lower):
                    self.functions[function] = lower

    def _find_updates(self) -> None:
        halved = (*self.syntax.of_type(ast.BinOp), *self.syntax.of_type(ast.AugAssign))
        for node in halved:
            assert isinstance(node, (ast.BinOp, ast.AugAssign))
            function = self.syntax.function(node) if isinstance(node.op, _HALVES) else None
            if function is None or _is_compiled(function):
                continue
            loop = self._loop_around(node)
            written = climbed(loop if loop is not None else function)
            if written is None:
                continue
            if loop is not None:
                self.updating_loops[loop] = written
            elif _recurses(function):
                self.updating_functions[function] = written

    def updated_by(self, function: Function) -> ast.expr | None:
        """Return the expression for the sum of a node of the tree that a function updates once per call."""
        found = self.updating_functions.get(function)
        for loop, written in self.updating_loops.items():
            if self.syntax.function(loop) is function and self._loop_around(loop) is None:
                found = written
        return found

    def of(self, function: Function) -> ast.expr | None:
        """Return the expression for the sum below a node of the tree that a function descends once per call;
        None if it also writes to the tree.
        """
        found = self.functions.get(function)
        for loop, lower in self.loops.items():
            if self.syntax.function(loop) is function and self._loop_around(loop) is None:
                found = lower
        return found if found is not None and not _writes(function, found) else None

    def _loop_around(self, node: ast.AST) -> Loop | None:
        for ancestor in self.syntax.ancestors(node):
            if isinstance(ancestor, LOOPS):
                return ancestor
            if isinstance(ancestor, FUNCTIONS):
                break
        return None


def storage_of(lower: ast.expr, analysis: FileAnalysis) -> Type | None:
    """Return the type of the container of a tree's sums, as far as the file determines it; None if the sums
    are attributes of objects.
    """
    if isinstance(lower, ast.Name):
        function = analysis.syntax.function(lower)
        for node in descendants(function) if function is not None else ():
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() as value):
                    if name == lower.id:
                        return analysis.types.type_of(value.value).aged()
    return analysis.types.type_of(lower.value).aged() if isinstance(lower, ast.Subscript) else None


class SumTreeUses:
    """The calls of a project that descend or update sum trees."""

    def __init__(self, index: ProjectIndex) -> None:
        self.index = index
        self._known: dict[tuple[str, int, TreeDirection], list[Type]] = {}

    def of(self, path: str, module: str, way: TreeDirection) -> list[Type]:
        """Return the containers of the sum trees that a call of an access path walks once."""
        return self._called(path, module, way, _DEPTH[way]) if self.any else []

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


def _is_compiled(function: Function) -> bool:
    """Whether a function is compiled (`@njit`, `@torch.jit.script`)."""
    return any(
        word in ast.dump(decorator) for decorator in function.decorator_list for word in ("jit", "compile")
    )


def _recurses(function: Function) -> bool:
    return any(
        isinstance(node, ast.Call) and last_name(node.func) == function.name for node in descendants(function)
    )


def _writes(function: Function, lower: ast.expr) -> bool:
    """Whether a function stores anything in the sums."""
    return isinstance(lower, ast.Subscript) and any(
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and same_code(node.value, lower.value)
        for node in descendants(function)
    )


def _walks_down(loop: Loop, wanted: str, lower: ast.expr) -> bool:
    """Whether a loop subtracts the left sum from the target sum, and descends from a node to a child."""
    takes_off = doubles = False
    assigned = {
        target.id
        for node in descendants(loop)
        if isinstance(node, (ast.Assign, ast.AugAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for node in descendants(loop):
        match node:
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Sub(), value=value) if name == wanted:
                takes_off = takes_off or same_code(value, lower)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == wanted:
                takes_off = takes_off or _is_rest(value, wanted, lower)
            case ast.AugAssign(target=ast.Name(), op=ast.Mult(), value=ast.Constant(value=2)):
                doubles = True
            case ast.AugAssign(target=ast.Name(), op=ast.LShift(), value=ast.Constant(value=1)):
                doubles = True
            case ast.BinOp(left=ast.Constant(value=2), op=ast.Mult(), right=ast.Name(id=name)):
                doubles = doubles or name in assigned
            case ast.BinOp(left=ast.Name(id=name), op=ast.Mult(), right=ast.Constant(value=2)):
                doubles = doubles or name in assigned
            case ast.BinOp(left=ast.Name(id=name), op=ast.LShift(), right=ast.Constant(value=1)):
                doubles = doubles or name in assigned
    return takes_off and doubles


def _calls_itself(function: Function, wanted: str, lower: ast.expr) -> bool:
    """Whether a function recurses with the wanted sum unchanged, and with the left sum subtracted."""
    whole = rest = False
    for node in descendants(function):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name == function.name:
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
                whole = whole or any(isinstance(value, ast.Name) and value.id == wanted for value in given)
                rest = rest or any(_is_rest(value, wanted, lower) for value in given)
    return whole and rest


def _is_rest(value: ast.expr, wanted: str, lower: ast.expr) -> bool:
    """Whether an expression is `wanted - sums[left]`."""
    match value:
        case ast.BinOp(left=ast.Name(id=name), op=ast.Sub(), right=right):
            return name == wanted and same_code(right, lower)
    return False
