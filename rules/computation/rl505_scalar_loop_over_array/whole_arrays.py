"""The operation on whole arrays that replaces a loop over their elements."""

from __future__ import annotations

import ast

from rlint.rule import (
    Applicability,
    BindingKind,
    Fix,
    SemanticModel,
    Type,
    TypeTag,
    dtypes,
    dump_as_read,
    same_code,
)
from rlint.rules.computation._shared.early import may_end_early
from rlint.rules.computation.rl505_scalar_loop_over_array.elements import ElementAccess, held_by

_LARGE = 1e200
"""A number that may be added to any float64 array without an additional overflow."""
_WHOLE = 2**53
_LARGE_SINGLE = 1e20
_SMALL_SINGLE = 1e-20


def whole_fix(found: ElementAccess, model: SemanticModel) -> Fix | None:
    """Return `x[:] = x / 255.0` for a loop that divides each element; None if replacing elements by their
    array is not enough.
    """
    if not found.plain or found.items or len(found.stored) != 1 or len(found.counters) != 1:
        return None
    if not isinstance(found.loop, ast.For):
        return None
    (statement,) = found.stored
    (counter,) = found.counters
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    if not isinstance(target, ast.Subscript) or len(found.loop.body) != 1:
        return None
    arrays = {dump_as_read(held_by(element)) for element in found.arrays}
    if len(arrays) != 1 or not _is_whole(found) or _used_outside(counter, found, model):
        return None
    held = model.edit.code(held_by(target))
    value = _text(statement.value, found, model)
    if isinstance(statement, ast.AugAssign):
        operator = model.syntax.text[model.source.span(target)[1] : model.source.span(statement.value)[0]]
        sign = operator.strip().partition("=")[0]
        if "(" in operator or isinstance(statement.value, (ast.BinOp, ast.UnaryOp)):
            value = f"({value})"
        value = f"{held} {sign} {value}"
    edit = model.edit.replace_statement(found.loop, f"{held}[:] = {model.edit.whole(value)}")
    if edit is None:
        return None
    reason = None
    if not _is_exact(statement, held_by(target), model):
        reason = f"`{held}` must be a numeric array; results may be rounded differently"
    elif _may_stop(held_by(target), found.loop, model):
        reason = (
            f"if NumPy raises an error for one element, no element of `{held}` has been assigned before it"
        )
    safety = Applicability.UNSAFE if reason else Applicability.SAFE
    return Fix(f"Vectorise the operation on `{held}`", safety, (edit,), reason=reason)


def _is_whole(found: ElementAccess) -> bool:
    """Whether the loop counts to the length of the array, as `range(len(x))` does."""
    match getattr(found.loop, "iter", None):
        case ast.Call(
            args=[
                ast.Call(func=ast.Name(id="len"), args=[held], keywords=[])
                | ast.Subscript(value=ast.Attribute(value=held, attr="shape"), slice=ast.Constant(value=0))
            ]
        ):
            return same_code(held, held_by(found.arrays[0]))
    return False


def _used_outside(counter: str, found: ElementAccess, model: SemanticModel) -> bool:
    scope = model.names.scope(found.loop).lookup(counter)
    if scope is None or scope.parent is None or model.names.is_captured(counter, scope):
        return True
    deleted = (name for name in model.syntax.of_type(ast.Name) if isinstance(name.ctx, ast.Del))
    if any(name.id == counter and model.names.scope(name).lookup(counter) is scope for name in deleted):
        return True
    uses = model.names.reads(counter, scope)
    outside = (use for use in uses if not any(above is found.loop for above in model.ancestors(use)))
    return any(_may_read(use, found, model) for use in outside)


def _may_read(use: ast.Name, found: ElementAccess, model: SemanticModel) -> bool:
    """Whether the loop binds what a name reads. An unbound name would be a variable of the module, if any,
    without the loop.
    """
    definitions = model.dataflow.definitions(use)
    return not definitions or any(binding.statement is found.loop for binding in definitions)


def _text(value: ast.expr, found: ElementAccess, model: SemanticModel) -> str:
    """Return the source of a value with arrays in place of their elements."""
    start, end = model.source.span(value)
    inside = [element for element in found.arrays if start <= model.source.span(element)[0] < end]
    edits = [model.edit.replace(element, model.edit.parenthesized(held_by(element))) for element in inside]
    return model.edit.text_with(value, edits)


def _is_exact(statement: ast.Assign | ast.AugAssign, held: ast.expr, model: SemanticModel) -> bool:
    """Whether the operation on the whole array surely gives the same result, bit for bit, without other
    warnings. That holds for an array that this function created, and constants that cannot overflow.
    """
    kind = model.types.type_of(held)
    if kind.tag is not TypeTag.NDARRAY or not kind.rank or not _is_made_here(held, model):
        return False
    if isinstance(statement, ast.AugAssign):
        return kind.dtype == "float64" and _is_exact_step(statement.op, statement.value, kind)
    return _is_exact_value(statement.value, kind, outermost=True)


def _may_stop(held: ast.expr, loop: ast.For, model: SemanticModel) -> bool:
    """Whether numpy may raise an error for one of the numbers, as it does if it is configured to, and code
    may read the array afterwards.
    """
    caught = isinstance(held, ast.Name) and may_end_early(held, loop, model)
    return caught or model.program.mentions("errstate", "seterr")


def _is_exact_value(value: ast.expr, kind: Type, *, outermost: bool) -> bool:
    match value:
        case ast.Subscript():
            return not outermost
        case ast.BinOp(left=left, op=op, right=right):
            if kind.dtype == "float64":
                return _is_exact_step(op, right, kind) and _is_exact_value(left, kind, outermost=False)
            if not isinstance(left, ast.Subscript) or not outermost:
                return False
            if kind.dtype == "float32":
                return _is_exact_step(op, right, kind)
            if kind.dtype == "uint8" and isinstance(op, ast.Div) and isinstance(right, ast.Constant):
                # an integer out of range of a byte is an error, if there is any element
                return _is_exact_step(op, right, kind) and not _is_large(right.value)
    return False


def _is_large(value: object) -> bool:
    return isinstance(value, int) and value > 255


def _is_exact_step(op: ast.operator, number: ast.expr, kind: Type) -> bool:
    match number:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            size = abs(value)
            if isinstance(value, int) and size > _WHOLE:
                return False  # not a numpy number
        case _:
            return False
    if kind.dtype == "float32" and not (dtypes.fits_single(value) and _SMALL_SINGLE <= size <= _LARGE_SINGLE):
        return False
    match op:
        case ast.Div():
            return 1 <= size < _LARGE
        case ast.Mult():
            return 0 < size <= 1  # an infinite element times 0 is invalid, of which NumPy warns
        case ast.Add() | ast.Sub():
            return size < _LARGE
    return False


def _is_made_here(held: ast.expr, model: SemanticModel) -> bool:
    """Whether the array was created by the function, and no other code reads it while it is written."""
    if not isinstance(held, ast.Name):
        return False
    definitions = model.dataflow.definitions(held)
    return len(definitions) == 1 and all(
        binding.kind is BindingKind.ASSIGN
        and not binding.path
        and isinstance(binding.value, ast.Call)
        and model.types.type_of(binding.value).fresh
        for binding in definitions
    )
