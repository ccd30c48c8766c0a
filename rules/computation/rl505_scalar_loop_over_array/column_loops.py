"""Loops that run operations on whole arrays for one number after the other: the columns of an array, or the
parts of a sum that is scattered into one.
"""

from __future__ import annotations

import ast
from dataclasses import field

from rlint.rule import (
    SemanticModel,
    Trait,
    TypeTag,
    axes_of,
    children,
    descendants,
    dump_as_read,
    models,
    mutable,
    trip_count,
    variable_names,
)
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop
from rlint.rules.computation.rl505_scalar_loop_over_array.independent_items import OF_FEW

_FEW = 5
_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_COMPUTES = Trait.ELEMENTWISE | Trait.PAIRWISE | Trait.REDUCES | Trait.SUMS | Trait.COMPARES | Trait.LIMITS
_FUNCTIONS = models.having(_COMPUTES | Trait.LIKE, "torch", "numpy") | {"torch.where", "numpy.where"}
_FEWEST, _FEWEST_OF_NUMPY = 4, 8
_IN_A_ROW = models.having(Trait.FROM_NUMBERS, "torch", "numpy") | {"builtins.range", "builtins.slice"}
_ADDS = ("index_add_", "scatter_add_")
_METHODS = models.having(
    _COMPUTES | Trait.CASTS | Trait.CASTS_TO | Trait.KEEPS_ORDER | Trait.MIRRORS,
    TypeTag.TENSOR,
    TypeTag.NDARRAY,
)


def column_loop(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Return what `for s in range(n): x[:, s] = (places == s).float().sum(-1)` computes, if no column depends
    on another one: each iteration runs several operations where one of each would do. Also a loop that adds
    to elements of an array that computed arrays select (`m[rows, low] += p[:, j] * (high - b)`).
    """
    counter = _counter(loop, model)
    if counter is None or not any(_assigns_element(statement) for statement in loop.body):
        return None
    passes = trip_count.passes(loop, model)
    if (passes is not None and passes < _FEW) or trip_count.over_components(loop, model):
        return None
    if OF_FEW.search(model.source.text(loop.iter).lower()):
        return None
    found = _Columns(model, counter, variable_names(loop.target))
    if not all(found.reads_statement(statement) for statement in loop.body):
        return None
    arrays = found.scattered or [each.value for each in found.stored]
    if not arrays or not found.is_much() or not found.are_apart(loop):
        return None
    text = model.source.text(arrays[0])
    if found.added or found.scattered:
        does = f"adds to `{text}` part by part, with {found.operations} operations on whole arrays for each,"
        advice = (
            f"Compute all parts at once, with a new dimension (`torch.arange(n)` in place of `{counter}`), "
            "and add them with one `scatter_add_`, `index_add_` or `np.add.at`"
        )
    else:
        does = f"computes the columns of `{text}` one by one"
        advice = (
            "Compute all columns at once: with a slice of them, or by broadcasting over a new dimension "
            f"(`torch.arange(n)` in place of `{counter}`), or count with `scatter_add`"
        )
    return ItemLoop(arrays[0], does, advice, sized=True)


def _counter(loop: ast.For, model: SemanticModel) -> str | None:
    """Return the counter of `for j in range(n)` or of `for j, z in enumerate(support)`."""
    match loop:
        case ast.For(target=ast.Name(id=counter), iter=ast.Call(func=func), orelse=[]):
            return counter if model.names.qualified(func) == "builtins.range" else None
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=counter), ast.Name()]), iter=ast.Call(func=func), orelse=[]
        ):
            return counter if model.names.qualified(func) == "builtins.enumerate" else None
    return None


def _assigns_element(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Subscript(slice=ast.Tuple())]) | ast.AugAssign(target=ast.Subscript()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=method))):
            return method in _ADDS
    return False


@mutable
class _Columns:
    """Recognises statements that compute columns; `own` are the variables that differ between iterations,
    `stored` the columns that are assigned, `added` the elements among them that are only added to,
    `scattered` the arrays that a method adds to, `operations` the number of operations on arrays.
    """

    model: SemanticModel
    counter: str
    own: set[str]
    given: set[str] = field(default_factory=set)
    stored: list[ast.Subscript] = field(default_factory=list)
    added: list[ast.Subscript] = field(default_factory=list)
    scattered: list[ast.expr] = field(default_factory=list)
    operations: int = 0

    def reads_statement(self, statement: ast.stmt) -> bool:
        """Return whether a statement only computes values or assigns a column."""
        match statement:
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=owner, attr=method), args=args, keywords=keywords)
            ):
                given = [*args, *(each.value for each in keywords)]
                self.operations += 1
                return self._changes(owner, method, given) and all(map(self._reads, given))
            case ast.AugAssign(target=ast.Subscript() as target, op=ast.Add() | ast.Sub(), value=value):
                self.stored.append(target)
                self.added.append(target)
                self.operations += 1
                return self._is_selected(target) and self._reads(value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if not self._reads(value) or name in self.given:
                    return False  # the value of the previous iteration
                self.own.add(name)
                return True
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                self.stored.append(target)
                return self._is_column(target) and self._reads(value)
        return False

    def _changes(self, owner: ast.expr, method: str, given: list[ast.expr]) -> bool:
        """Return whether a method changes what the iteration has computed (`target.clamp_(low, high)`), or
        adds to elements of an array that the iteration selects (`m.scatter_add_(1, low, share)`).
        """
        if method in _ADDS and isinstance(owner, (ast.Name, ast.Attribute)):
            self.scattered.append(owner)
            return self.model.types.type_of(owner).tag is TypeTag.TENSOR and not self._is_own(owner)
        return method.endswith("_") and method.rstrip("_") in _METHODS and self._is_own(owner)

    def _is_own(self, owner: ast.expr) -> bool:
        return isinstance(owner, ast.Name) and owner.id in self.own

    def _is_selected(self, target: ast.Subscript) -> bool:
        """Whether a target is elements of an array that arrays computed in the iteration select."""
        if not isinstance(target.value, (ast.Name, ast.Attribute)):
            return False
        if self.model.types.type_of(target.value).tag not in _ARRAYS or not self._reads_places(target.slice):
            return False
        return any(
            isinstance(part, ast.Name)
            and part.id in self.own - {self.counter}
            and self.model.types.type_of(part).tag in _ARRAYS
            for part in descendants(target.slice)
        )

    def _reads_places(self, places: ast.expr) -> bool:
        """Return whether an index only consists of computed numbers and arrays and of numbers in a row."""
        return all(
            self.model.names.qualified(part.func) in _IN_A_ROW
            for part in descendants(places)
            if isinstance(part, ast.Call)
        )

    def is_much(self) -> bool:
        """Whether the iterations run enough operations for one of each to be faster. Those of numpy are
        cheaper, and a scattered sum needs some of its own.
        """
        added = self.scattered + [each.value for each in self.added]
        if not added:
            return self.operations > len(self.stored)
        tensors = all(self.model.types.type_of(each).tag is TypeTag.TENSOR for each in added)
        return self.operations >= len(added) + (_FEWEST if tensors else _FEWEST_OF_NUMPY)

    def _is_column(self, target: ast.Subscript) -> bool:
        """Whether a target is a whole column whose number is the counter, perhaps after an offset."""
        if not isinstance(target.value, (ast.Name, ast.Attribute)):
            return False
        if self.model.types.type_of(target.value).tag is not TypeTag.TENSOR:
            return False
        *others, last = axes_of(target.slice)
        if not others or not all(isinstance(axis, ast.Slice) and axis.step is None for axis in others):
            return False
        match last:
            case ast.Name(id=name):
                return name == self.counter
            case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right):
                counters = [each for each in (left, right) if isinstance(each, ast.Name)]
                return self.counter in {each.id for each in counters} and not isinstance(right, ast.Call)
        return False

    def _reads(self, value: ast.expr) -> bool:
        match value:
            case ast.Constant(value=bool() | int() | float() | None):
                return True
            case ast.Name(id=name):
                if name not in self.own:
                    self.given.add(name)
                return True
            case ast.Attribute(value=owner):
                return self._reads(owner)
            case ast.Subscript(value=held, slice=place):
                names = variable_names(place)
                self.given |= names - self.own
                return self._reads_places(place) and self._reads(held)
            case ast.BinOp(op=ast.MatMult()):
                return False
            case ast.BinOp() | ast.UnaryOp() | ast.Compare():
                self.operations += self.model.types.type_of(value).tag in _ARRAYS
                return all(self._reads(part) for part in children(value) if isinstance(part, ast.expr))
            case ast.Call(func=func, args=args, keywords=keywords):
                given = [*args, *(each.value for each in keywords)]
                self.operations += 1
                return self._only_computes(func) and all(self._reads(part) for part in given)
        return False

    def _only_computes(self, func: ast.expr) -> bool:
        name = self.model.names.qualified(func)
        if name is not None:
            return name in _FUNCTIONS
        match func:
            case ast.Attribute(value=owner, attr=method) if method in _METHODS:
                return self.model.types.type_of(owner).tag in _ARRAYS and self._reads(owner)
        return False

    def are_apart(self, loop: ast.For) -> bool:
        """Whether the arrays with assigned columns are read at the same columns only, and no variable carries
        a value to the next iteration.
        """
        if self.given & (self.own - variable_names(loop.target)):
            return False
        columns = {dump_as_read(target) for target in self.stored}
        arrays = {dump_as_read(each) for each in (*(target.value for target in self.stored), *self.scattered)}
        for node in (part for statement in loop.body for part in descendants(statement)):
            if isinstance(node, (ast.Name, ast.Attribute)) and dump_as_read(node) in arrays:
                item = self.model.parent(node)
                if node in self.scattered:
                    continue
                if (
                    not isinstance(item, ast.Subscript)
                    or item.value is not node
                    or dump_as_read(item) not in columns
                ):
                    return False
        return True
