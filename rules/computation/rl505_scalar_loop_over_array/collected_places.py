"""Loops that collect the places of an array at which a comparison holds."""

from __future__ import annotations

import ast
from collections.abc import Collection

from rlint.rule import SemanticModel, TypeTag, axes_of, descendants, variable_names
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop

_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_REDUCES = {f"{module}.{name}": name for module in ("numpy", "torch", "builtins") for name in ("any", "all")}
"""Functions that reduce the truth values of a row."""


def position_loop(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Return what `for i in range(n): if x[i] == 0: places.append(i)` collects; loops over rows and columns
    are one.
    """
    counters = list[str]()
    inner = loop
    while True:
        counter = _counter(inner, model)
        if counter is None or counter in counters:
            return None
        counters.append(counter)
        if len(inner.body) != 1 or not isinstance(inner.body[0], ast.For):
            break
        inner = inner.body[0]
    match inner.body:
        case [
            ast.If(
                test=ast.Compare(left=ast.Subscript() as element, ops=[_], comparators=[other]),
                body=[
                    ast.Expr(
                        value=ast.Call(
                            func=ast.Attribute(value=ast.Name(), attr="append"), args=[place], keywords=[]
                        )
                    )
                ],
                orelse=[],
            )
        ]:
            pass
        case _:
            return None
    held, places = _indexed(element)
    if places != counters or model.types.type_of(held).tag not in _ARRAYS:
        return None
    if _moves(other, counters) or not _is_of_counters(place, counters):
        return None
    text = model.source.text(held)
    found = "np.flatnonzero" if len(counters) == 1 else "np.argwhere"
    return ItemLoop(
        held,
        f"looks for places in `{text}` element by element",
        f"Compare the whole array, and take the places where it holds: `{found}({text} == value)`",
        len(counters),
    )


def selected_items(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Return what `for i, count in enumerate(counts): if count > 0: kept.append(names[i])` selects: all that
    the loop does for an element of an array is under one condition, and only fills lists.
    """
    match loop:
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(), ast.Name(id=item)]),
            iter=ast.Call(func=func, args=[held], keywords=[]),
            body=[ast.If(test=test, body=body, orelse=[])],
            orelse=[],
        ) if model.names.qualified(func) == "builtins.enumerate":
            pass
        case _:
            return None
    reduction, negated = _reduction(test, model), isinstance(test, ast.UnaryOp)
    test = _of_row(test, model)
    is_element = _names(test) == {item} or _compares(test, item, [item])
    if not is_element or model.types.type_of(held).tag not in _ARRAYS:
        return None
    if not any(isinstance(statement, ast.Expr) for statement in body):
        return None
    if not all(_only_keeps(statement, model) for statement in body):
        return None
    text = model.source.text(held)
    if reduction is not None:
        return _of_rows(held, reduction, model, negated=negated)
    return ItemLoop(
        held,
        f"looks for places in `{text}` element by element",
        f"Compare the whole array, and visit only the places where it holds: `np.flatnonzero({text} > 0)`",
    )


def _of_rows(held: ast.expr, reduction: str, model: SemanticModel, *, negated: bool) -> ItemLoop:
    """Describe a loop that reduces one row after the other to select some: `negated` those where it does not
    hold.
    """
    rows, kind = model.source.text(held), model.types.type_of(held)
    text = rows
    of_tensor = kind.tag is TypeTag.TENSOR
    if kind.rank != 1:
        rows = f"{rows}.{reduction}({'dim' if of_tensor else 'axis'}=1)"
    rows = f"~{rows}" if negated else rows
    found = f"({rows}).nonzero()" if of_tensor else f"np.flatnonzero({rows})"
    return ItemLoop(
        held,
        f"tests `{text}` row by row",
        f"Reduce all rows at once, and visit only the places where it holds: `{found}`",
    )


def _reduction(test: ast.expr, model: SemanticModel) -> str | None:
    """Return how a condition reduces a row to one truth value: `any` of `np.any(row)`, `not row.any()`."""
    match _tested(test):
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr="any" | "all" as name), args=[], keywords=[]):
            return name
        case ast.Call(func=func, args=[ast.Name()], keywords=[]):
            return _REDUCES.get(model.names.qualified(func) or "")
    return None


def _of_row(test: ast.expr, model: SemanticModel) -> ast.expr:
    """Return the row that a condition reduces, or the condition."""
    if _reduction(test, model) is None:
        return test
    match _tested(test):
        case ast.Call(args=[row]) | ast.Call(func=ast.Attribute(value=row)):
            return row
    return test


def _only_keeps(statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether a statement computes a value without side effects, and keeps it in a variable or list."""
    match statement:
        case ast.Assign(targets=[ast.Name()], value=value):
            pass
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(), attr="append"), args=[value], keywords=[])
        ):
            pass
        case _:
            return False
    return model.effects.effect_of(value).quiet


def _counter(loop: ast.For, model: SemanticModel) -> str | None:
    match loop:
        case ast.For(target=ast.Name(id=name), iter=ast.Call(func=func, args=[_], keywords=[]), orelse=[]):
            return name if model.names.qualified(func) == "builtins.range" else None
    return None


def _indexed(element: ast.Subscript) -> tuple[ast.expr, list[str]]:
    """Return the array of `x[i, j]` or `x[i][j]`, and the names in its index."""
    held: ast.expr = element
    places: list[str] = []
    while isinstance(held, ast.Subscript):
        places[:0] = [part.id if isinstance(part, ast.Name) else "" for part in axes_of(held.slice)]
        held = held.value
    return held, places


def _moves(value: ast.expr, counters: list[str]) -> bool:
    """Whether a value may differ from one place to the next."""
    return any(
        (isinstance(node, ast.Name) and node.id in counters)
        or isinstance(node, (ast.Call, ast.NamedExpr, ast.Await))
        for node in descendants(value)
    )


def _is_of_counters(place: ast.expr, counters: list[str]) -> bool:
    """True for the place itself, `i`, `(i, j)`, or its number: `i * columns + j`."""
    own = variable_names(place)
    return set(counters) <= own and not any(
        isinstance(node, (ast.Call, ast.NamedExpr, ast.Await, ast.Subscript)) for node in descendants(place)
    )


def listed_places(made: ast.ListComp, model: SemanticModel) -> ItemLoop | None:
    """Return what `[i for i, x in enumerate(array) if x == 0]` collects, or the same with `range(len(array))`
    and `array[i]`.
    """
    match made:
        case ast.ListComp(
            elt=ast.Name(id=place),
            generators=[
                ast.comprehension(
                    target=ast.Tuple(elts=[ast.Name(id=counter), ast.Name(id=item)]),
                    iter=ast.Call(func=func, args=[held], keywords=[]),
                    ifs=[test],
                )
            ],
        ) if place == counter and model.names.qualified(func) == "builtins.enumerate":
            reduction, negated = _reduction(test, model), isinstance(test, ast.UnaryOp)
            test = _of_row(test, model)
            is_element = _names(test) == {item} or _compares(test, item, {counter, item})
        case ast.ListComp(
            elt=ast.Name(id=place),
            generators=[ast.comprehension(target=ast.Name(id=counter), iter=ast.Call(func=func), ifs=[test])],
        ) if place == counter and model.names.qualified(func) == "builtins.range":
            reduction, negated = None, False
            element = _tested(test)
            if not isinstance(element, ast.Subscript):
                return None
            held, places = _indexed(element)
            is_element = places == [counter] and not (
                isinstance(test, ast.Compare) and _moves(test.comparators[0], [counter])
            )
        case _:
            return None
    if not is_element or model.types.type_of(held).tag not in _ARRAYS:
        return None
    if reduction is not None:
        return _of_rows(held, reduction, model, negated=negated)
    text = model.source.text(held)
    return ItemLoop(
        held,
        f"looks for places in `{text}` element by element",
        f"Compare the whole array, and take the places where it holds: `({text} == value).nonzero()`",
    )


def _tested(test: ast.expr) -> ast.expr:
    """Return what a condition tests: `x[i]` of `x[i] > 0` and of `not x[i]`."""
    match test:
        case ast.Compare(left=left, ops=[_]):
            return left
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
    return test


def _names(test: ast.expr) -> set[str]:
    """Return the name that is tested alone: `x` and `not x`."""
    tested = _tested(test)
    return {tested.id} if isinstance(tested, ast.Name) and not isinstance(test, ast.Compare) else set()


def _compares(test: ast.expr, item: str, own: Collection[str]) -> bool:
    match test:
        case ast.Compare(left=ast.Name(id=compared), ops=[_], comparators=[other]):
            return compared == item and not _moves(other, sorted(own))
    return False
