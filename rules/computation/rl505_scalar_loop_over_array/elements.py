"""Loops that compute arrays element by element, without dependencies between elements."""

from __future__ import annotations

import ast
from dataclasses import field

from rlint.rule import (
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    dump_as_read,
    last_name,
    models,
    mutable,
    observations,
)

_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.FloorDiv, ast.Mod)
_OF_WHOLE_ARRAYS = models.having(Trait.ELEMENTWISE | Trait.PAIRWISE, "numpy") | {"numpy.clip", "numpy.where"}
"""Functions that accept an array in place of a number."""
_OF_NUMBERS = (
    models.having(Trait.ELEMENTWISE | Trait.PAIRWISE, "math")
    - {"math.erf", "math.erfc", "math.gamma", "math.lgamma"}  # which numpy lacks
    | {"builtins.abs", "builtins.float", "builtins.max", "builtins.min"}
)
"""Functions with a counterpart of another name for whole arrays."""


_OF_ARRAYS = models.having(Trait.KEEPS_ORDER, TypeTag.NDARRAY, TypeTag.TENSOR) | {"numpy"}
"""Methods that only arrays and tensors have; they return one."""


@mutable
class ElementAccess:
    """What a loop computes: `arrays` are those whose elements it reads or writes, one node for each use;
    `stored` are the assignments to elements, `summed` the variable that it adds to instead.
    """

    loop: ast.For | ast.ListComp | ast.GeneratorExp
    body: list[ast.stmt] = field(default_factory=list)  # of the innermost loop
    counters: tuple[str, ...] = ()
    items: dict[str, ast.expr] = field(default_factory=dict)  # loop variables that are elements, and of what
    arrays: list[ast.Subscript] = field(default_factory=list)
    stored: list[ast.Assign | ast.AugAssign] = field(default_factory=list)
    summed: ast.AugAssign | None = None
    temporary: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)  # variables whose value from before the loop is read
    plain: bool = True  # operators only: an array can replace the element
    computes: bool = False


def elements_of(loop: ast.For, model: SemanticModel) -> ElementAccess | None:
    """Return what a loop does to the elements of arrays, if it does nothing else."""
    if loop.orelse:
        return None
    found = ElementAccess(loop)
    body = _enter(loop, found, model)
    found.body = body or []
    if body is None or not all(_is_statement(statement, found, model) for statement in body):
        return None
    if not found.computes or bool(found.stored) == bool(found.summed):
        return None
    return found if _only_arrays(found, model) else None


def gathered(made: ast.ListComp | ast.GeneratorExp, model: SemanticModel) -> ElementAccess | None:
    """Return what a comprehension computes from the elements of arrays, if it does nothing else."""
    found = ElementAccess(made)
    if len(made.generators) != 1 or made.generators[0].ifs or made.generators[0].is_async:
        return None
    clause = made.generators[0]
    if not _iterates_over(clause.target, clause.iter, found, model) or not _is_simple(made.elt, found, model):
        return None
    computes = isinstance(made.elt, (ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Call))
    return found if computes and _only_arrays(found, model) else None


def _enter(loop: ast.For, found: ElementAccess, model: SemanticModel) -> list[ast.stmt] | None:
    """Record the counter or iterable of a loop; a loop that only contains another one is merged with it."""
    if not _iterates_over(loop.target, loop.iter, found, model):
        return None
    match loop.body:
        case [ast.For(orelse=[]) as inner] if not found.items:
            return _enter(inner, found, model)
    return loop.body


def _iterates_over(target: ast.expr, iterable: ast.expr, found: ElementAccess, model: SemanticModel) -> bool:
    match iterable, target:
        case ast.Call(func=func, args=args), ast.Name(id=name) if (
            model.names.qualified(func) == "builtins.range"
        ):
            if len(args) > 1 and model.source.text(args[0]) != "0":
                return False
            if len(args) > 2 or name in found.counters:
                return False
            found.counters += (name,)
        case ast.Call(func=func, args=[array]), ast.Tuple(elts=[ast.Name(id=name), ast.Name(id=item)]):
            if model.names.qualified(func) != "builtins.enumerate":
                return False
            found.counters += (name,)
            found.items[item] = array
        case ast.Call(func=func, args=args), ast.Tuple(elts=elts) if len(args) == len(elts):
            if model.names.qualified(func) != "builtins.zip":
                return False
            for array, part in zip(args, elts, strict=True):
                if not isinstance(part, ast.Name):
                    return False
                found.items[part.id] = array
        case ((ast.Name() | ast.Attribute()), ast.Name(id=item)):
            found.items[item] = iterable
        case ast.Call(func=ast.Attribute(attr=method)), ast.Name(id=item) if method in _OF_ARRAYS:
            found.items[item] = iterable
        case _:
            return False
    return True


def _is_statement(statement: ast.stmt, found: ElementAccess, model: SemanticModel) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            if name in found.counters or not _is_simple(value, found, model) or name in found.given:
                return False  # a value that is read before it is set comes from the previous iteration
            found.temporary.add(name)
            found.plain = False
            return True
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            if not _is_element(target, found) or not _is_simple(value, found, model):
                return False
            found.computes = found.computes or isinstance(
                value, (ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Call)
            )
            found.arrays.append(target)
            found.stored.append(statement)
            return True
        case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
            if not isinstance(op, _OPERATORS) or not _is_element(target, found):
                return False
            if not _is_simple(value, found, model):
                return False
            found.computes = True
            found.arrays.append(target)
            found.stored.append(statement)
            return True
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
            if found.summed is not None or name in found.temporary or not _is_simple(value, found, model):
                return False
            if any(isinstance(node, ast.Name) and node.id == name for node in descendants(value)):
                return False
            found.computes = True
            found.summed = statement
            return True
        case ast.If(test=test, body=body, orelse=orelse):
            found.plain, found.computes = False, True
            return _is_simple(test, found, model) and all(
                _is_store(inner) and _is_statement(inner, found, model) for inner in (*body, *orelse)
            )
    return False


def _is_store(statement: ast.stmt) -> bool:
    """Whether a statement is an assignment to an item, which binds no variable."""
    match statement:
        case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
            return isinstance(target, ast.Subscript)
    return False


def _is_element(node: ast.Subscript, found: ElementAccess) -> bool:
    """Whether an expression is `x[i]`, `x[i, j]`, `x[i][j]`: one place of an array per iteration."""
    return _indices(node) == list(found.counters) and bool(found.counters)


def _indices(node: ast.Subscript) -> list[str] | None:
    first: list[str] | None = []
    if isinstance(node.value, ast.Subscript):
        first = _indices(node.value)
    elif not isinstance(node.value, (ast.Name, ast.Attribute)):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if first is None or not all(isinstance(part, ast.Name) for part in parts):
        return None
    return [*first, *(part.id for part in parts if isinstance(part, ast.Name))]


def _is_simple(value: ast.expr, found: ElementAccess, model: SemanticModel) -> bool:
    """Whether a value is computed from elements, numbers and invariants of the loop."""
    match value:
        case ast.Constant(value=int() | float()):
            return True
        case ast.Name(id=name):
            if name not in found.temporary and name not in found.items:
                found.given.add(name)
            return name not in found.counters
        case ast.Attribute():
            return _is_settled(value, found)
        case ast.Subscript():
            if _is_element(value, found):
                found.arrays.append(value)
                return True
            return _is_settled(value, found)
        case ast.BinOp(left=left, op=op, right=right):
            return isinstance(op, _OPERATORS) and all(_is_simple(p, found, model) for p in (left, right))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_simple(operand, found, model)
        case ast.Compare(left=left, comparators=[right]):
            return _is_simple(left, found, model) and _is_simple(right, found, model)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            found.plain = False
            return all(_is_simple(part, found, model) for part in (test, body, orelse))
        case ast.Call(func=func, args=args, keywords=[]) if args:
            qualified = model.names.qualified(func)
            if qualified in _OF_NUMBERS:
                found.plain = False
            elif qualified not in _OF_WHOLE_ARRAYS:
                return False
            return all(_is_simple(argument, found, model) for argument in args)
        case ast.Call(func=ast.Attribute(), args=[], keywords=[]):
            return _is_same_number(value, found, model)
    return False


def _is_same_number(call: ast.Call, found: ElementAccess, model: SemanticModel) -> bool:
    """Whether a method returns the same value in each iteration: `tree.total()`."""
    moving = {*found.counters, *found.items, *found.temporary}
    if any(isinstance(node, ast.Name) and node.id in moving for node in descendants(call)):
        return False
    return model.effects.is_repeatable(call)


def _is_settled(value: ast.expr, found: ElementAccess) -> bool:
    """Whether an attribute, or an item at a constant place, is the same in each iteration."""
    moving = {*found.counters, *found.items, *found.temporary}
    return not any(
        (isinstance(node, ast.Name) and node.id in moving)
        or isinstance(node, (ast.Call, ast.NamedExpr, ast.Await, ast.Slice))
        for node in descendants(value)
    )


def held_by(element: ast.expr) -> ast.expr:
    """Return the array that an element is of."""
    while isinstance(element, ast.Subscript):
        element = element.value
    return element


def _only_arrays(found: ElementAccess, model: SemanticModel) -> bool:
    """Whether all arrays surely are arrays or tensors (or observations of an environment), and no element
    depends on what another iteration writes.
    """
    read = [held_by(element) for element in found.arrays]
    body = found.body if isinstance(found.loop, ast.For) else [found.loop.elt]
    used = {
        node.id
        for statement in body
        for node in descendants(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    read += [array for item, array in found.items.items() if item in used]
    if not read or not all(_is_array(array, model) for array in read):
        return False
    written = {ast.dump(held_by(target)) for target in _targets(found)}
    places = [id(held_by(element)) for element in found.arrays]
    return not any(
        isinstance(node, (ast.Name, ast.Attribute))
        and dump_as_read(node) in written
        and id(node) not in places
        for statement in body
        for node in descendants(statement)
    )


def _targets(found: ElementAccess) -> list[ast.Subscript]:
    targets = [s.targets[0] if isinstance(s, ast.Assign) else s.target for s in found.stored]
    return [target for target in targets if isinstance(target, ast.Subscript)]


def _is_array(array: ast.expr, model: SemanticModel) -> bool:
    match array:
        case ast.Call(func=ast.Attribute(attr=method)) if not model.types.type_of(array):
            return method in _OF_ARRAYS
    kind = model.types.type_of(array)
    if kind.tag in _ARRAYS:
        return kind.rank != 0
    return observations.is_observation(array, model) and last_name(array) not in ("s", "o")
