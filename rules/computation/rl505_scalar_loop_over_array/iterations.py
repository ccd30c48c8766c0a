"""Loops whose iterations are independent of each other, and compute with elements or rows of arrays."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import field

from rlint.rule import (
    SemanticModel,
    Trait,
    TypeTag,
    children,
    descendants,
    models,
    mutable,
    variable_names,
)
from rlint.rules.computation.rl505_scalar_loop_over_array.elements import held_by
from rlint.rules.computation.rl505_scalar_loop_over_array.own_places import are_apart
from rlint.rules.computation.rl505_scalar_loop_over_array.scalar_functions import (
    COMPUTES,
    ON_ELEMENTS,
    ON_ROWS,
)

_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_MAY_BE_ARRAYS = _ARRAYS | {TypeTag.UNKNOWN}
_ITERATES = models.having(Trait.SAME_ITEMS | Trait.PAIRS_ITEMS, "builtins")
_EACH_PLACE = frozenset({"numpy.ndenumerate", "numpy.ndindex", "numpy.nditer", "itertools.product"})
"""Iterators over all places or elements of arrays, as nested loops would run."""
_METHODS = models.having(
    ON_ELEMENTS
    | ON_ROWS
    | Trait.TO_HOST
    | Trait.KEEPS_VALUES
    | Trait.CASTS
    | Trait.CASTS_TO
    | Trait.RESHAPES,
    TypeTag.NDARRAY,
    TypeTag.TENSOR,
) | {"squeeze", "unsqueeze", "to"}
_OF_DISTRIBUTIONS = frozenset({"log_prob", "cdf"})
_SINGLE = frozenset({TypeTag.INT, TypeTag.FLOAT, TypeTag.NUMPY_SCALAR})
_ADDS = (ast.Add, ast.Sub, ast.Mult)


@mutable
class Iteration:
    """Records what the iterations of a loop, or of several nested ones, read and write.

    `loops` are all loops, `around` those around the current statement. `moving` are the variables that
    differ from one iteration to the next: counters, items, and what is computed from them; `given` are the
    variables read before the iteration sets them, `bound` all that it sets. `stored` are the assigned
    elements, `sums` the variables that are only added to, `kept` the lists that are only appended to, with
    the appended values; `varies` is set if a sum depends on the iteration. `rows` are the lists that an
    iteration begins and fills itself. `tensors` are values of unknown type whose elements are read, which
    torch's functions show to be tensors, `looked_up` the variables that hold an element. `assumed` says what
    has to be true besides.
    """

    model: SemanticModel
    loops: list[ast.For | ast.comprehension] = field(default_factory=list)
    around: list[ast.For | ast.comprehension] = field(default_factory=list)
    moving: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    stored: list[ast.Subscript] = field(default_factory=list)
    sums: set[str] = field(default_factory=set)
    kept: list[tuple[ast.Name, ast.expr]] = field(default_factory=list)
    arrays: list[ast.expr] = field(default_factory=list)
    operations: int = 0
    varies: bool = False
    rows: set[str] = field(default_factory=set)
    tensors: list[ast.expr] = field(default_factory=list)
    looked_up: set[str] = field(default_factory=set)
    assumed: list[str] = field(default_factory=list)

    def enter(self, loop: ast.For | ast.comprehension) -> bool:
        """Record the variables of a loop; return whether it iterates over numbers, arrays or sequences."""
        if not all(isinstance(node, (ast.Name, ast.Tuple, ast.Store)) for node in descendants(loop.target)):
            return False
        for held in self._iterated(loop.iter):
            if not self._reads(held) or self._is_bound(held, loop):
                return False
            tag = self.model.types.type_of(held).tag
            if tag in _ARRAYS:
                self.arrays.append(held)
            elif isinstance(held, ast.Call):
                return False
        names = variable_names(loop.target)
        self.loops.append(loop)
        self.around.append(loop)
        self.moving |= names
        self.own |= names
        self.bound |= names
        return True

    def _is_bound(self, held: ast.expr, loop: ast.For | ast.comprehension) -> bool:
        """Whether a loop surely has another number of iterations for each item of the one around it: not for
        the rows of an array, and not for lists that may have the same length.
        """
        if held is loop.iter or not self.moves(held):
            return False
        if self._is_next(held):
            return False
        tag = self.model.types.type_of(held).tag
        if tag in _ARRAYS:
            return False
        self.assumed.append(f"each `{self.model.source.text(held)}` has the same length")
        is_item = isinstance(held, (ast.Name, ast.Subscript))
        return not is_item or tag not in (TypeTag.LIST, TypeTag.UNKNOWN)

    def _is_next(self, bound: ast.expr) -> bool:
        """Whether a loop begins after the item of the loop around it, for each pair of items: `i + 1`."""
        match bound:
            case ast.BinOp(left=ast.Name(id=name), op=ast.Add(), right=ast.Constant(value=1)):
                return any(
                    isinstance(each.target, ast.Name) and each.target.id == name for each in self.around
                )
        return False

    def _iterated(self, iterable: ast.expr, *, places: bool = False) -> Iterable[ast.expr]:
        """Yield what a loop iterates over: the sequences of `zip`, the bounds of `range`, the array whose
        shape gives the `places` to visit.
        """
        match iterable:
            case ast.Call(func=func, args=args, keywords=[]) if args:
                name = self.model.names.qualified(func) or ""
                if name == "builtins.range" or name in _ITERATES or name in _EACH_PLACE:
                    for part in args:
                        yield from self._iterated(
                            part.value if isinstance(part, ast.Starred) else part, places=name in _EACH_PLACE
                        )
                    return
        match iterable:
            case ast.Attribute(value=counted, attr="flat"):
                yield counted
            case ast.Attribute(value=counted, attr="shape") if places:
                yield counted
            case (
                ast.Call(func=ast.Name(id="len"), args=[counted])
                | ast.Call(func=ast.Attribute(value=counted, attr="size" | "numel"))
            ):
                yield counted
            case _:
                yield iterable

    def block(self, statements: list[ast.stmt]) -> bool:
        """Return whether statements only compute values from what an iteration reads, and store them."""
        return all(self._statement(statement) for statement in statements)

    def _statement(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Pass() | ast.Continue() | ast.Expr(value=ast.Constant()):
                return True
            case ast.If(test=test, body=body, orelse=orelse):
                self.operations += 1
                self.varies |= self.moves(test)
                return self._reads(test) and self.block(body) and self.block(orelse)
            case ast.For(body=body, orelse=[]):
                return self.enter(statement) and self._inner(body)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                return self._reads(value) and all(self._binds(target, value) for target in targets)
            case (
                ast.Assign(targets=[ast.Name() as target], value=value)
                | ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value)
            ):
                if isinstance(value, ast.List) and not value.elts and self.around:
                    self.rows.add(target.id)
                return self._reads(value) and self._binds(target, value)
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                return self._reads(value) and self._stores(target, whole=True)
            case ast.AugAssign(target=ast.Subscript() as target, value=value):
                self.operations += 1
                return self._reads(value) and self._stores(target, whole=False)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                self.operations += 1
                if name not in self.own:
                    self.sums.add(name)
                    self.varies |= self.moves(value)
                # an inner loop could pass the value from one of its iterations to the next
                is_own = name in self.own and len(self.around) == 1 and not isinstance(op, ast.MatMult)
                return (is_own or isinstance(op, _ADDS)) and self._reads(value)
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name() as kept, attr="append"), args=[value], keywords=[]
                )
            ):
                if kept.id in self.rows:
                    return self._reads(value)
                self.kept.append((kept, value))
                return kept.id not in self.own and self._reads(value)
        return False

    def _inner(self, body: list[ast.stmt]) -> bool:
        """Return whether a nested loop only computes; what one of its iterations sets, the next must not
        read.
        """
        assigned = {
            target.id
            for statement in body
            for node in descendants(statement)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        before = self.own & assigned
        self.own -= assigned
        computes = self.block(body)
        self.own |= before
        self.around.pop()
        return computes

    def _binds(self, target: ast.expr, value: ast.expr) -> bool:
        if not isinstance(target, ast.Name) or target.id in self.given or target.id in self.sums:
            return False  # the value of the previous iteration
        self.own.add(target.id)
        self.bound.add(target.id)
        if self.moves(value):
            self.moving.add(target.id)
            if isinstance(value, ast.Subscript):
                self.looked_up.add(target.id)
        return True

    def _stores(self, target: ast.Subscript, *, whole: bool) -> bool:
        """Record an assigned element of an array. The place of a `whole` new value must depend on all loops
        around it.
        """
        held = held_by(target)
        if not isinstance(held, (ast.Name, ast.Attribute)) or not self._reads_index(target):
            return False
        if not self._is_array(held, target) or not self.moves(target):
            return False
        if whole and not all(self._depends(target, loop) for loop in self.around):
            return False
        self.stored.append(target)
        self.arrays.append(held)
        self.operations += self._is_scattered(target)
        return True

    def _is_array(self, held: ast.expr, element: ast.Subscript) -> bool:
        """Whether elements are of an array; with two indices that move, also if the type is unknown."""
        tag = self.model.types.type_of(held).tag
        if tag is TypeTag.UNKNOWN and self._moves_twice(element):
            self.assumed.append(f"`{self.model.source.text(held)}` is an array")
            return True
        return tag in _ARRAYS

    def _moves_twice(self, element: ast.Subscript) -> bool:
        """Whether two indices of an element differ from one iteration to the next: `x[i][j]`."""
        outer = element.value
        return isinstance(outer, ast.Subscript) and self.moves(outer.slice) and self.moves(element.slice)

    def _moves_in_two_axes(self, element: ast.Subscript) -> bool:
        """Whether an index of several axes has two numbers that differ between iterations: `x[i, j]`."""
        axes = element.slice.elts if isinstance(element.slice, ast.Tuple) else []
        return sum(map(self.moves, axes)) >= 2

    def _is_scattered(self, target: ast.Subscript) -> bool:
        """Whether the place of an assigned element is itself an element: `mask[i][chosen[i]]`."""
        element: ast.expr = target
        while isinstance(element, ast.Subscript):
            if any(
                isinstance(part, ast.Subscript) or (isinstance(part, ast.Name) and part.id in self.looked_up)
                for part in descendants(element.slice)
            ):
                return True
            element = element.value
        return False

    def _depends(self, target: ast.Subscript, loop: ast.For | ast.comprehension) -> bool:
        """Whether a place depends on the variable of a loop, or on values that an iteration computes."""
        others = {name for each in self.loops if each is not loop for name in variable_names(each.target)}
        return bool(variable_names(target) & (self.moving - others))

    def _reads_index(self, target: ast.Subscript) -> bool:
        """Whether all places of an element are computed; operations on places alone do not count."""
        element: ast.expr = target
        before = self.operations
        while isinstance(element, ast.Subscript):
            if not self._reads(element.slice):
                return False
            element = element.value
        self.operations = before
        return True

    def computes(self, value: ast.expr) -> bool:
        """Return whether a value is computed from what an iteration reads, without side effects."""
        return self._reads(value)

    def moves(self, value: ast.AST) -> bool:
        """Whether a value differs from one iteration to the next."""
        return any(isinstance(node, ast.Name) and node.id in self.moving for node in descendants(value))

    def _reads(self, value: ast.expr) -> bool:
        """Record what evaluating a value reads; return whether it computes with numbers and arrays only."""
        match value:
            case ast.Constant(value=bool() | int() | float() | None):
                return True
            case ast.Name(id=name):
                if name not in self.own:
                    self.given.add(name)
                return True
            case ast.Attribute():
                return self._reads_attribute(value)
            case ast.Subscript():
                return self._reads_element(value)
            case ast.Slice():
                return self._reads_window(value)
            case ast.Call(func=func, args=args, keywords=keywords):
                self.operations += 1
                given = [*args, *(each.value for each in keywords)]
                computes = self._only_computes(func) and all(
                    self._reads(each) or isinstance(each, ast.Constant) for each in given
                )
                if computes:
                    self._note_tensors(func, given)
                return computes
            case ast.BinOp(op=ast.MatMult()):
                return False
            case ast.Compare(
                left=ast.Name(id=number), ops=[ast.In() | ast.NotIn()], comparators=[listed]
            ) if self._is_counter(number) and isinstance(listed, ast.Subscript) and self.moves(listed):
                self.operations += 1
                return self._reads_element(listed)
            case ast.Compare(ops=[ast.In() | ast.NotIn() | ast.Is() | ast.IsNot(), *_]):
                return False
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.BoolOp() | ast.IfExp():
                self.operations += not isinstance(value, ast.UnaryOp)
                if self._is_whole(value):
                    return False
                return all(self._reads(part) for part in children(value) if isinstance(part, ast.expr))
            case ast.Tuple() | ast.List():
                return all(self._reads(part) for part in value.elts)
        return False

    def _is_counter(self, name: str) -> bool:
        """Whether a variable counts the iterations of the inner of several nested loops."""
        if len(self.around) < 2:
            return False
        target = self.around[-1].target
        return isinstance(target, ast.Name) and target.id == name

    def _note_tensors(self, func: ast.expr, given: list[ast.expr]) -> None:
        """Record that a function of torch gets what is read from values of unknown type: they are tensors."""
        is_torch = (self.model.names.qualified(func) or "").startswith("torch.")
        if self.tensors and is_torch and any(map(self.moves, given)):
            self.arrays += self.tensors
            self.assumed.append(f"`{self.model.source.text(self.tensors[0])}` is a tensor")
            self.tensors = []

    def _is_whole(self, value: ast.expr) -> bool:
        """Whether an operation combines a whole array with a number of the iteration, which is no loop over
        elements: `ids == i`.
        """
        match value:
            case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
                kinds = [self.model.types.type_of(side) for side in (left, right)]
                for whole, kind, number, other in (
                    (left, kinds[0], right, kinds[1]),
                    (right, kinds[1], left, kinds[0]),
                ):
                    if (
                        kind.tag in _ARRAYS
                        and kind.rank != 0
                        and not self.moves(whole)
                        and self.moves(number)
                    ):
                        return other.tag in _SINGLE or other.rank == 0
        return False

    def _reads_attribute(self, value: ast.Attribute) -> bool:
        """Whether an attribute is the same in each iteration, also of an item: `self.critics[0].delta`."""
        if self.moves(value) or any(isinstance(node, ast.Call) for node in descendants(value)):
            return False
        names = [node for node in descendants(value) if isinstance(node, ast.Name)]
        return bool(names) and all(map(self._reads, names))

    def _reads_element(self, value: ast.Subscript) -> bool:
        """Whether an element or row is read, of an array, or of what may be one."""
        held = held_by(value)
        if not isinstance(held, (ast.Name, ast.Attribute)) or not self._reads_index(value):
            return False
        if isinstance(held, ast.Name) and held.id in self.moving:
            return self._is_item_of_array(held)
        if not self._reads(held):
            return False
        if not self.moves(value):
            return True
        tag = self.model.types.type_of(held).tag
        if tag in _ARRAYS:
            self.arrays.append(held)
            return True
        if isinstance(value.value, ast.Subscript):
            return self._is_array(held, value) or (
                tag is TypeTag.LIST and self._holds_lists(held) and self._moves_twice(value)
            )
        if tag is TypeTag.UNKNOWN and self._moves_in_two_axes(value):
            self.arrays.append(held)
            self.assumed.append(f"`{self.model.source.text(held)}` is an array")
        elif tag is TypeTag.UNKNOWN:
            self.tensors.append(held)
        return tag in _MAY_BE_ARRAYS or (
            tag is TypeTag.LIST and (self._holds_numbers(held) or self._holds_lists(held))
        )

    def _holds_numbers(self, held: ast.expr) -> bool:
        item = self.model.types.type_of(held).item
        return item is None or item.tag in _SINGLE | _MAY_BE_ARRAYS

    def _holds_lists(self, held: ast.expr) -> bool:
        """Whether a list contains lists of numbers, as far as is known."""
        item = self.model.types.type_of(held).item
        if item is None or item.tag is not TypeTag.LIST:
            return False
        return item.item is None or item.item.tag in _SINGLE | _MAY_BE_ARRAYS

    def _is_item_of_array(self, item: ast.Name) -> bool:
        """Whether a variable is a row of an array."""
        for loop in self.loops:
            if item.id in variable_names(loop.target):
                return any(held in self.arrays for held in self._iterated(loop.iter))
        tag = self.model.types.type_of(item).tag
        return tag in _ARRAYS or (tag is TypeTag.UNKNOWN and item.id in self.own)

    def _reads_window(self, window: ast.Slice) -> bool:
        """Whether a slice has the same length in each iteration: constant bounds, or `i : i + n`."""
        bounds = [bound for bound in (window.lower, window.upper, window.step) if bound is not None]
        if not all(self._reads(bound) for bound in bounds):
            return False
        moving = [bound for bound in bounds if self.moves(bound)]
        if not moving:
            return True
        counters = {loop.target.id for loop in self.loops if isinstance(loop.target, ast.Name)}
        fixed = all(variable_names(bound) & self.moving <= counters for bound in moving)
        return fixed and len(moving) == 2 and window.step is None

    def _only_computes(self, func: ast.expr) -> bool:
        name = self.model.names.qualified(func)
        if name is not None:
            return name in COMPUTES
        match func:
            case ast.Attribute(value=owner, attr=method) if method in _METHODS:
                return self._reads(owner) and self.model.types.type_of(owner).tag in _MAY_BE_ARRAYS
            case ast.Attribute(value=ast.Name() as owner, attr=method) if method in _OF_DISTRIBUTIONS:
                # densities of one distribution at many points, which broadcast
                kind = self.model.types.type_of(owner).tag
                is_one = owner.id not in self.bound and self._reads(owner)
                return is_one and kind in (TypeTag.DISTRIBUTION, TypeTag.UNKNOWN)
        return False

    def is_independent(self, body: Iterable[ast.AST]) -> bool:
        """Whether no iteration reads what another one writes."""
        if self.given & (self.bound | self.sums | {kept.id for kept, _ in self.kept}):
            return False
        apart: bool = are_apart(self.stored, body, [loop.target for loop in self.loops], self.model)
        return apart
