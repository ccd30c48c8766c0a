"""Loops, comprehensions and `map` calls as what they are: values that are computed for each item and kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    SemanticModel,
    Trait,
    TypeTag,
    children,
    descendants,
    frozen,
    models,
    trip_count,
    variable_names,
)
from rlint.rules.computation._shared.stratified_draws import is_short

Collector = ast.ListComp | ast.GeneratorExp | ast.Call | ast.For

_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_CONVERTS = models.having(Trait.FROM_DATA | Trait.JOINS, "numpy", "torch") | {"numpy.fromiter"}
_LISTS = frozenset({"builtins.list", "builtins.tuple"})
_LISTED = (ast.ListComp, ast.GeneratorExp)


@frozen
class Collected:
    """The values that a comprehension or loop computes for each item.

    `values` are the computed expressions, including conditions and values of intermediate variables; `names`
    are the variables that differ between items, `bound` the variables that hold the values, and `iterated`
    the pairs of a loop target and its iterable. `as_array` says that the values become elements of an array.
    """

    values: tuple[ast.expr, ...]
    names: frozenset[str]
    iterated: tuple[tuple[ast.expr, ast.expr], ...]
    as_array: bool
    bound: frozenset[str] = frozenset()


def collected(node: ast.AST, model: SemanticModel) -> Collected | None:
    """Return what a loop, comprehension or `map` collects; None if it does more, has few items, or is part of
    another collector.
    """
    match node:
        case ast.ListComp() | ast.GeneratorExp():
            return _of_comprehension(node, model)
        case ast.Call(func=func, args=[ast.Lambda(args=taken, body=value), *iterables], keywords=[]) if (
            model.names.qualified(func) == "builtins.map"
        ):
            return _of_map(node, taken, value, iterables, model)
        case ast.For():
            return _of_loop(node, model)
    return None


def becomes_array(made: ast.expr, model: SemanticModel) -> bool:
    """Whether a list or iterator is only converted to an array: directly, through `list`, as a row of another
    one, or by all uses of the variable that holds it.
    """
    parent = model.parent(made)
    match parent:
        case ast.Call(func=func, args=[first, *_]) if first is made:
            name = model.names.qualified(func)
            return name in _CONVERTS or (name in _LISTS and becomes_array(parent, model))
        case ast.keyword(arg="data" | "object"):
            call = model.parent(parent)
            return isinstance(call, ast.Call) and model.names.qualified(call.func) in _CONVERTS
        case ast.ListComp(elt=row) | ast.GeneratorExp(elt=row) if row is made:
            return becomes_array(parent, model)
        case ast.BinOp(left=left, right=right):
            other = right if left is made else left
            return model.types.type_of(other).tag in _ARRAYS
        case ast.Assign(targets=[ast.Name() as held], value=value) if value is made:
            return _is_converted(held, model)
    return False


def _is_converted(held: ast.Name, model: SemanticModel, grown: ast.AST | None = None) -> bool:
    """Whether all reads of a variable convert it to an array, other than those in the loop that grows it."""
    scope = model.names.scope(held).lookup(held.id)
    reads = model.names.reads(held.id, scope) if scope is not None else []
    inside = set(map(id, descendants(grown))) if grown is not None else set[int]()
    others = [read for read in reads if id(read) not in inside]
    return bool(others) and all(_is_given(read, model) for read in others)


def _is_given(read: ast.Name, model: SemanticModel) -> bool:
    parent = model.parent(read)
    if isinstance(parent, ast.BinOp):
        return becomes_array(read, model)
    return (
        isinstance(parent, ast.Call)
        and parent.args[:1] == [read]
        and model.names.qualified(parent.func) in _CONVERTS
    )


def _of_comprehension(made: ast.ListComp | ast.GeneratorExp, model: SemanticModel) -> Collected | None:
    if any(each.ifs or each.is_async for each in made.generators):
        return None
    as_array = becomes_array(made, model)
    if isinstance(made, ast.GeneratorExp) and not as_array and not _is_listed(made, model):
        return None
    if _is_row(made, model):
        return None
    iterated = [(each.target, each.iter) for each in made.generators]
    value: ast.expr = made.elt
    while (inner := _row_of(value, model)) is not None:
        if any(each.ifs or each.is_async for each in inner.generators):
            return None
        iterated += [(each.target, each.iter) for each in inner.generators]
        value = inner.elt
    if len(iterated) == 1 and (is_short(made, model) or trip_count.collects_components(made, model)):
        return None
    names = frozenset(name for target, _ in iterated for name in variable_names(target))
    return Collected((value,), names, tuple(iterated), as_array)


def _row_of(value: ast.expr, model: SemanticModel) -> ast.ListComp | ast.GeneratorExp | None:
    """Return the comprehension that makes the rows of another one, also through a conversion."""
    match value:
        case ast.ListComp() | ast.GeneratorExp():
            return value
        case ast.Call(func=func, args=[ast.ListComp() | ast.GeneratorExp() as inner, *_]):
            return inner if model.names.qualified(func) in (_CONVERTS | _LISTS) else None
    return None


def _is_row(made: ast.expr, model: SemanticModel) -> bool:
    """Whether a comprehension makes the rows of another one."""
    outer = model.parent(made)
    if isinstance(outer, ast.Call) and outer.args[:1] == [made]:
        made, outer = outer, model.parent(outer)
    return isinstance(outer, _LISTED) and outer.elt is made and _row_of(made, model) is not None


def _is_listed(made: ast.expr, model: SemanticModel) -> bool:
    """Whether an iterator only fills a list: `list(…)`, `[*…]`."""
    match model.parent(made):
        case ast.Call(func=func, args=[first]):
            return first is made and model.names.qualified(func) in _LISTS
        case ast.Starred() as star:
            return isinstance(model.parent(star), (ast.List, ast.Tuple))
    return False


def _of_map(
    call: ast.Call, taken: ast.arguments, value: ast.expr, iterables: list[ast.expr], model: SemanticModel
) -> Collected | None:
    if len(taken.args) != len(iterables) or taken.defaults or taken.vararg or taken.kwonlyargs:
        return None
    as_array = becomes_array(call, model)
    if not as_array and not _is_listed(call, model):
        return None
    iterated = [
        (ast.Name(id=each.arg, ctx=ast.Store()), iterable)
        for each, iterable in zip(taken.args, iterables, strict=True)
    ]
    return Collected((value,), frozenset(each.arg for each in taken.args), tuple(iterated), as_array)


def _of_loop(loop: ast.For, model: SemanticModel) -> Collected | None:
    if loop.orelse or is_short(loop, model) or trip_count.over_components(loop, model):
        return None
    body = _Body(loop, model)
    if not body.block(loop.body) or not body.keeps:
        return None
    names = variable_names(loop.target) | body.bound
    iterated = [(loop.target, loop.iter)]
    for outer in model.ancestors(loop):
        if not isinstance(outer, ast.For) or outer.body != [loop]:
            break
        iterated.append((outer.target, outer.iter))
        names |= variable_names(outer.target)
    return Collected(
        tuple(body.values), frozenset(names), tuple(iterated), body.as_array, frozenset(body.bound)
    )


class _Body:
    """Reads the statements of a loop that only computes values and keeps them."""

    def __init__(self, loop: ast.For, model: SemanticModel) -> None:
        self.loop, self.model = loop, model
        self.values: list[ast.expr] = []
        self.bound: set[str] = set()
        self.keeps, self.as_array = False, True

    def block(self, statements: list[ast.stmt]) -> bool:
        """Return whether statements do nothing else, and record what they compute."""
        return all(map(self._statement, statements))

    def _statement(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Pass() | ast.Continue() | ast.Expr(value=ast.Constant()):
                return True
            case ast.If(test=test, body=body, orelse=orelse):
                self.values.append(test)
                return self.block(body) and self.block(orelse)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.values.append(value)
                self.bound.add(name)
                return True
            case (
                ast.Assign(targets=[ast.Subscript() as target], value=value)
                | ast.AugAssign(target=ast.Subscript() as target, value=value)
            ):
                self.values.append(value)
                return self._stores(target)
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name() as held, attr="append"), args=[value], keywords=[]
                )
            ):
                self.values.append(value)
                self.keeps = True
                self.as_array &= _is_converted(held, self.model, self.loop)
                return True
        return False

    def _stores(self, target: ast.Subscript) -> bool:
        """Record an element of an array, whose place differs from one iteration to the next."""
        held: ast.expr = target
        places = []
        while isinstance(held, ast.Subscript):
            places.append(held.slice)
            held = held.value
        moving = variable_names(self.loop.target) | self.bound
        if not any(moving & variable_names(place) for place in places):
            return False
        self.keeps = True
        return self.model.types.type_of(held).tag in _ARRAYS


def parts_of(value: ast.expr, inside: frozenset[ast.expr]) -> Iterator[ast.AST]:
    """Yield the parts of a value, without those of the expressions `inside` it."""
    if value in inside:
        return
    yield value
    for child in children(value):
        if isinstance(child, ast.expr):
            yield from parts_of(child, inside)
        else:
            yield child
