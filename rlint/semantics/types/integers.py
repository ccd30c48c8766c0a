"""Whether an expression is an integer, surely or judging by its names."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import TYPE_CHECKING

from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import same_code
from rlint.syntax.scopes import BindingKind

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

_COUNT = regex(
    r"^n$|^(n|num|nb|number_of)_|(^|_)(size|count|counter|cntr|cnt|num|len|length|capacity|dim)$|^max_mem$"
    r"|^total_(samples|steps|transitions|size)$"
)
_CHOICES = ("builtins.min", "builtins.max")
_CHOSEN = frozenset({"numpy.min", "numpy.max", "numpy.minimum", "numpy.maximum"})
_DEPTH = 5


def is_integer(expression: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool | None:
    """Return True if an expression surely is an integer, False if only its name suggests it (`n_actions`,
    `buffer_size`), None if nothing does.
    """
    kind = model.types.type_of(expression)
    if kind.tag is TypeTag.NUMPY_SCALAR and depth > 0:
        parts = chosen_by_numpy(expression, model, _CHOSEN)
        return False if parts and _all(parts, model, depth) is not None else None
    if kind:
        return True if kind.tag is TypeTag.INT and not kind.optional else None
    if depth <= 0:
        return None
    match expression:
        case ast.Call(func=func, args=[_, _, *_] as parts, keywords=[]) if (
            model.names.qualified(func) in _CHOICES
        ):
            return _any_likely(parts, model, depth)
        case ast.BinOp(
            left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() | ast.Mod(), right=right
        ):
            return _all([left, right], model, depth)
        case ast.Name():
            values = [
                b.value
                for b in model.dataflow.definitions(expression)
                if b.kind is BindingKind.ASSIGN and not b.path
            ]
            if values and len(values) == len(model.dataflow.definitions(expression)):
                found = _all([value for value in values if value is not None], model, depth)
                if found is not None:
                    return found
        case ast.IfExp(body=body, orelse=orelse):
            return _all([body, orelse], model, depth)
        case ast.Attribute(value=ast.Name(id="self")) if _counts(expression, model):
            return False
    name = last_name(expression) if isinstance(expression, (ast.Name, ast.Attribute)) else None
    return False if name is not None and _COUNT.search(name.lower()) else None


def chosen_by_numpy(expression: ast.expr, model: SemanticModel, functions: Collection[str]) -> list[ast.expr]:
    """Return the values of which one of NumPy's functions chooses one: `np.min((self.entries,
    self.capacity))`, `np.minimum(rows, capacity)`; empty for other expressions.
    """
    match expression:
        case (
            ast.Call(func=func, args=[ast.Tuple(elts=parts) | ast.List(elts=parts)], keywords=[])
            | ast.Call(func=func, args=[_, _] as parts, keywords=[])
        ) if model.names.qualified(func) in functions:
            return parts
    return []


def _counts(attribute: ast.Attribute, model: SemanticModel) -> bool:
    """Whether an attribute of unknown type begins as an integer and is only counted up to a limit, or set to
    one again: `self.stored = 0`, `self.stored = min(self.stored + rows, self.capacity)`, or wraps around.
    """
    cls = model.class_of(attribute)
    begins = False
    for use in model.names.attribute_uses(attribute.attr):
        if not isinstance(use.ctx, ast.Store) or model.class_of(use) is not cls:
            continue
        match model.parent(use):
            case ast.Assign(value=ast.Constant(value=int() as value)) if not isinstance(value, bool):
                begins = True
            case ast.AugAssign(op=ast.Add()) | ast.Assign(value=ast.BinOp(op=ast.Mod())):
                pass
            case ast.Assign(value=ast.Call(func=ast.Name(id="min"), args=[_, _] as parts)):
                if not any(same_code(part.left, attribute) for part in parts if isinstance(part, ast.BinOp)):
                    return False
            case _:
                return False
    return begins


def _all(parts: list[ast.expr], model: SemanticModel, depth: int) -> bool | None:
    found = [is_integer(part, model, depth - 1) for part in parts]
    if None in found:
        return None
    return all(found)


def _any_likely(parts: list[ast.expr], model: SemanticModel, depth: int) -> bool | None:
    """Return the answer for the least of several numbers: an integer, judging by names, if one of them is and
    nothing is known of the others (`min(self.buffer_size, self.pos)`).
    """
    found = [is_integer(part, model, depth - 1) for part in parts]
    unknown = [part for part, answer in zip(parts, found, strict=True) if answer is None]
    if not unknown:
        return all(found)
    plain = all(
        isinstance(part, (ast.Name, ast.Attribute)) and not model.types.type_of(part) for part in unknown
    )
    return False if plain and len(unknown) < len(parts) else None
