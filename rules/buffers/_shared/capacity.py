"""How many rows a class of a buffer keeps at most, as its program sets it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import SemanticModel, defaults_of, descendants, numbers, regex

_CAPACITY = regex(r"^_*(\w*(max|buffer|memory|mem|replay)_?(size|len|length|mem|capacity)|capacity|maxlen)$")
_LEAST = 100
"""Smaller bounds are those of other things than rows."""
_ALLOCATIONS = frozenset({"numpy.zeros", "numpy.empty", "torch.zeros", "torch.empty"})


def capacity_of_class(cls: ast.ClassDef, model: SemanticModel) -> int | None:
    """Return the usual capacity of a buffer: the number that bounds its deque, its ring or its list, or a
    parameter of the constructor that is named like one. None if the program does not tell it.
    """
    for bound in (*_bounds(cls, model), *_allocated(cls, model)):
        number = model.sizes.number(bound)
        if number is not None and number >= _LEAST:
            return number
    made = model.method(cls, "__init__")
    defaults = defaults_of(made.args) if made is not None else {}
    parameters = (*made.args.args, *made.args.kwonlyargs) if made is not None else ()
    for name in (each.arg for each in parameters if _CAPACITY.search(each.arg)):
        default = numbers.number_of(defaults[name], model) if name in defaults else None
        number = model.sizes.setting(name) or (int(default.value) if default is not None else None)
        if number:
            return number
    return None


def _bounds(cls: ast.ClassDef, model: SemanticModel) -> Iterator[ast.expr]:
    """Yield what bounds a deque, the index of a ring, or the length of a list."""
    for node in descendants(cls):
        match node:
            case ast.keyword(arg="maxlen", value=bound):
                yield bound
            case ast.BinOp(op=ast.Mod(), left=left, right=ast.Attribute() as bound) if _of_self(left, model):
                yield bound
            case ast.Compare(left=left, comparators=[right]):
                for counted, bound in ((left, right), (right, left)):
                    if _counts_own(counted, model) and isinstance(bound, ast.Attribute):
                        yield bound


def _allocated(cls: ast.ClassDef, model: SemanticModel) -> Iterator[ast.expr]:
    """Yield the number of rows of the arrays that the constructor allocates."""
    made = model.method(cls, "__init__")
    for node in descendants(made) if made is not None else ():
        match node:
            case ast.Call(func=func, args=[shape, *_]) if model.names.qualified(func) in _ALLOCATIONS:
                yield shape.elts[0] if isinstance(shape, ast.Tuple) and shape.elts else shape
            case ast.BinOp(left=ast.List(elts=[_]), op=ast.Mult(), right=rows):
                yield rows


def _of_self(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether a number is computed from an attribute of the object: `self.position + 1`."""
    return any(
        isinstance(part, ast.Attribute) and model.names.is_self(part.value)
        for part in descendants(expression)
    )


def _counts_own(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression contains `len(self.rows)`, also by way of variables."""
    followed = [expression]
    for value in followed:
        for part in descendants(value):
            match part:
                case ast.Call(func=func, args=[ast.Attribute(value=owner)]) if (
                    model.names.qualified(func) == "builtins.len"
                ):
                    if model.names.is_self(owner):
                        return True
                case ast.Name():
                    definitions = model.dataflow.definitions(part)
                    held = definitions[0].value if len(definitions) == 1 else None
                    if held is not None and held not in followed:
                        followed.append(held)
    return False
