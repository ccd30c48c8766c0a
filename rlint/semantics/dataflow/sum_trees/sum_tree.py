"""Sum trees of prioritised replay buffers: descents from node to node to the leaf at a prefix sum, and
updates that climb from a leaf to the root.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from rlint.semantics.dataflow.sum_trees.descent import doubled, is_sum, recurses_down, walks_down
from rlint.semantics.dataflow.sum_trees.sum_tree_update import (
    climbed,
    climbed_by_reference,
    is_lowest_bit,
    is_parent,
    recomputed,
)
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import same_code
from rlint.syntax.syntax_index import FUNCTIONS, LOOPS, Function, Loop, SyntaxIndex
from rlint.syntax.walk import descendants

_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_HALVES = (ast.FloorDiv, ast.RShift)


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
        reduced = self._reduced
        for comparison in syntax.of_type(ast.Compare) if reduced else ():
            assert isinstance(comparison, ast.Compare)
            self._look_at(comparison, reduced)
        self._find_updates()
        self._find_linked_updates()

    @cached_property
    def _reduced(self) -> set[str]:
        """Return the variables from which something is subtracted."""
        found = set()
        for node in (*self.syntax.of_type(ast.BinOp), *self.syntax.of_type(ast.AugAssign)):
            match node:
                case (
                    ast.BinOp(left=ast.Name(id=name), op=ast.Sub())
                    | ast.AugAssign(target=ast.Name(id=name), op=ast.Sub())
                ):
                    found.add(name)
        return found

    @cached_property
    def _doubling(self) -> set[str]:
        """Return the names of functions that return the number of a node's child."""
        return set(self._short_functions(ast.Mult, ast.LShift))

    @cached_property
    def _halving(self) -> set[str]:
        """Return the names of functions that return the number of a node's parent."""
        return set(self._short_functions(*_HALVES))

    def _short_functions(self, *operators: type[ast.operator]) -> Iterator[str]:
        """Yield the names of functions that only return their parameter doubled or halved."""
        for node in self.syntax.of_type(ast.BinOp):
            assert isinstance(node, ast.BinOp)
            if not isinstance(node.op, operators):
                continue
            function = self.syntax.function(node)
            result = function.body[-1] if function is not None else None
            if function is None or len(function.body) > 2 or not isinstance(result, ast.Return):
                continue
            match result.value:
                case ast.BinOp(left=ast.BinOp() as inner, op=ast.Add(), right=ast.Constant()):
                    value: ast.expr | None = inner
                case value:
                    pass
            if value is not None and (is_parent(value) or doubled(value) is not None):
                yield function.name

    def _look_at(self, comparison: ast.Compare, reduced: set[str]) -> None:
        """Recognise the choice between the left and the right child: `wanted <= sums[left]`."""
        match comparison:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, _ORDERS):
                pass
            case _:
                return
        for wanted, lower in ((left, right), (right, left)):
            if not (isinstance(wanted, ast.Name) and wanted.id in reduced and is_sum(lower)):
                continue
            function = self.syntax.function(comparison)
            if function is None or _is_compiled(function):
                return
            loop = self._loop_around(comparison)
            if loop is not None and walks_down(loop, wanted.id, lower, self._doubling):
                self.loops[loop] = lower
            elif recurses_down(function, wanted.id, lower, self._doubling):
                self.functions[function] = lower

    def _find_updates(self) -> None:
        for node in (*self.syntax.of_type(ast.BinOp), *self.syntax.of_type(ast.AugAssign)):
            assert isinstance(node, (ast.BinOp, ast.AugAssign))
            function = self.syntax.function(node) if _leads_up(node) else None
            if function is not None:
                self._look_at_climb(node, function)
        for call in self.syntax.of_type(ast.Call) if self._halving else ():
            assert isinstance(call, ast.Call)
            function = self.syntax.function(call) if last_name(call.func) in self._halving else None
            if function is not None:
                self._look_at_climb(call, function)

    def _look_at_climb(self, node: ast.AST, function: Function) -> None:
        """Recognise an update in an array by the expression for the next node."""
        if _is_compiled(function):
            return
        loop = self._loop_around(node)
        written = climbed(loop if loop is not None else function, self._halving)
        if written is None:
            return
        if loop is not None:
            self.updating_loops[loop] = written
        elif _recurses(function):
            self.updating_functions[function] = written

    def _find_linked_updates(self) -> None:
        """Recognise updates of nodes that are linked to their parents or children, and recursive ones."""
        summed = {
            lower.attr
            for lower in (*self.loops.values(), *self.functions.values())
            if isinstance(lower, ast.Attribute)
        }
        for node in (*self.syntax.of_type(ast.Assign), *self.syntax.of_type(ast.AugAssign)):
            if not _writes_sum(node, summed):
                continue
            function = self.syntax.function(node)
            if function is None or _is_compiled(function):
                continue
            loop = self._loop_around(node)
            if loop is not None:
                climb = climbed_by_reference(loop, summed)
                if climb is not None:
                    self.updating_loops[loop] = climb
            elif _recurses(function):
                written = climbed_by_reference(function, summed, function.name) or recomputed(function)
                if written is not None:
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

    def places_in(self, function: Function) -> list[ast.AST]:
        """Return the loops of a function that walk a tree, and what a recursive one reads or writes."""
        walks = (*self.loops, *self.updating_loops)
        recursive = (self.functions.get(function), self.updating_functions.get(function))
        return [
            *(loop for loop in walks if self.syntax.function(loop) is function),
            *(sums for sums in recursive if sums is not None),
        ]

    def _loop_around(self, node: ast.AST) -> Loop | None:
        for ancestor in self.syntax.ancestors(node):
            if isinstance(ancestor, LOOPS):
                return ancestor
            if isinstance(ancestor, FUNCTIONS):
                break
        return None


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


def _leads_up(node: ast.BinOp | ast.AugAssign) -> bool:
    """Whether an expression or assignment may go from a node to its parent."""
    if isinstance(node.op, _HALVES):
        return True
    return (
        isinstance(node, ast.AugAssign)
        and isinstance(node.op, ast.Add)
        and isinstance(node.target, ast.Name)
        and is_lowest_bit(node.value, node.target.id)
    )


def _writes_sum(node: ast.AST, summed: set[str]) -> bool:
    """Whether a statement may write the sum of a node that is linked to others, or one of a recursion."""
    match node:
        case ast.AugAssign(target=ast.Attribute(value=ast.Name(), attr=attr), op=ast.Add()):
            return attr in summed
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name()) | ast.Subscript(slice=ast.Name()) as target],
            value=ast.BinOp() | ast.Call() as value,
        ):
            read = [each for each in descendants(value) if type(each) is type(target)]
            return len(read) > 1
    return False
