"""Loops that compute the columns of an array one by one, each with operations on whole arrays."""

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
)
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop
from rlint.rules.computation.rl505_scalar_loop_over_array.independent_items import OF_FEW

_FEW = 5
_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_COMPUTES = Trait.ELEMENTWISE | Trait.PAIRWISE | Trait.REDUCES | Trait.SUMS | Trait.COMPARES | Trait.LIMITS
_FUNCTIONS = models.having(_COMPUTES | Trait.LIKE, "torch", "numpy") | {"torch.where", "numpy.where"}
_METHODS = models.having(
    _COMPUTES | Trait.CASTS | Trait.KEEPS_ORDER | Trait.MIRRORS, TypeTag.TENSOR, TypeTag.NDARRAY
)


def column_loop(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Return what `for s in range(n): x[:, s] = (places == s).float().sum(-1)` computes, if no column depends
    on another one: each iteration runs several operations where one of each would do.
    """
    match loop:
        case ast.For(target=ast.Name(id=counter), iter=ast.Call(func=func), orelse=[]):
            if model.names.qualified(func) != "builtins.range":
                return None
        case _:
            return None
    if not any(_assigns_element(statement) for statement in loop.body):
        return None
    passes = trip_count.passes(loop, model)
    if (passes is not None and passes < _FEW) or trip_count.over_components(loop, model):
        return None
    if OF_FEW.search(model.source.text(loop.iter).lower()):
        return None
    found = _Columns(model, counter, {counter})
    if not all(found.reads_statement(statement) for statement in loop.body):
        return None
    if not found.stored or found.operations <= len(found.stored) or not found.are_apart(loop):
        return None
    text = model.source.text(found.stored[0].value)
    return ItemLoop(
        found.stored[0].value,
        f"computes the columns of `{text}` one by one",
        "Compute all columns at once: with a slice of them, or by broadcasting over a new dimension "
        f"(`torch.arange(n)` in place of `{counter}`), or count with `scatter_add`",
        sized=True,
    )


def _assigns_element(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Subscript(slice=ast.Tuple())]):
            return True
    return False


@mutable
class _Columns:
    """Recognises statements that compute columns; `own` are the variables that differ between iterations,
    `stored` the columns that are assigned, `operations` the number of operations on arrays.
    """

    model: SemanticModel
    counter: str
    own: set[str]
    given: set[str] = field(default_factory=set)
    stored: list[ast.Subscript] = field(default_factory=list)
    operations: int = 0

    def reads_statement(self, statement: ast.stmt) -> bool:
        """Return whether a statement only computes values or assigns a column."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if not self._reads(value) or name in self.given:
                    return False  # the value of the previous iteration
                self.own.add(name)
                return True
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                self.stored.append(target)
                return self._is_column(target) and self._reads(value)
        return False

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
                parts = [part for part in descendants(place) if isinstance(part, ast.Call)]
                return not parts and self._reads(held)
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
        if self.given & (self.own - {self.counter}):
            return False
        columns = {dump_as_read(target) for target in self.stored}
        arrays = {dump_as_read(target.value) for target in self.stored}
        for node in (part for statement in loop.body for part in descendants(statement)):
            if isinstance(node, (ast.Name, ast.Attribute)) and dump_as_read(node) in arrays:
                item = self.model.parent(node)
                if (
                    not isinstance(item, ast.Subscript)
                    or item.value is not node
                    or dump_as_read(item) not in columns
                ):
                    return False
        return True
