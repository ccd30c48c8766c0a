"""Indices that were drawn at random: the call that drew them, and whether there is at least one."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, TypeTag, element_types, integers, numbers
from rlint.rules.buffers._shared.choice import draw_of, population_of

_SIZED = {
    "numpy.random.randint": 2,
    "numpy.random.random_integers": 2,
    "numpy.random.RandomState.randint": 2,
}
_LISTED = ("random.sample", "random.choices")


def drawn_by(indices: ast.expr, model: SemanticModel) -> ast.Call | None:
    """Return the call that surely drew an array of integers; None if they may be anything."""
    call = _made_by(indices, model)
    return call if call is not None and number_drawn(call, model) is not None else None


def number_drawn(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return how many integers a call draws; None if it is another call, or draws no array of them."""
    name = model.names.qualified(call.func) or ""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    size: ast.expr | None = None
    if name in _SIZED or _is_generator_method(call, ("randint", "integers"), model):
        size = given.get("size", call.args[2] if len(call.args) > 2 else None)
        dtype = given.get("dtype", call.args[3] if len(call.args) > 3 else None)
        if dtype is not None and model.analysis.types.dtype_of(dtype) not in element_types.WHOLE:
            return None  # an index of booleans is a mask
    elif name in _LISTED:
        first = call.args[0] if call.args else None
        if first is not None and _is_range(first, model):
            size = given.get("k", call.args[1] if len(call.args) > 1 and name == _LISTED[0] else None)
    elif name == "numpy.random.permutation":
        match call.args, model.parent(call):
            case [count], ast.Subscript(slice=ast.Slice(lower=None, upper=upper)) if integers.is_integer(
                count, model
            ):
                size = upper
    else:
        draw = draw_of(call, model)
        population = population_of(draw, model) if draw is not None else None
        size = draw.size if draw is not None and population is not None else None
    kind = model.types.type_of(size) if size is not None else None
    # several sizes give a table of indices
    return None if kind is None or kind.tag in (TypeTag.TUPLE, TypeTag.LIST, TypeTag.NONE) else size


def _is_range(population: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression is `range(n)`, or a variable that holds it."""
    if isinstance(population, ast.Name):
        made = model.dataflow.definitions(population)
        return bool(made) and all(
            isinstance(each.value, ast.Call) and _is_range(each.value, model) for each in made
        )
    return isinstance(population, ast.Call) and model.names.qualified(population.func) == "builtins.range"


def are_some(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call surely draws at least one."""
    if model.names.qualified(call.func) == "numpy.random.permutation":
        return False  # there may be none to permute
    size = number_drawn(call, model)
    number = numbers.number_of(size, model) if size is not None else None
    return number is not None and number.fixed and number.value >= 1


def _is_generator_method(call: ast.Call, names: tuple[str, ...], model: SemanticModel) -> bool:
    match call.func:
        case ast.Attribute(value=owner, attr=attr) if attr in names:
            kind = model.types.type_of(owner)
            return kind.tag is TypeTag.RANDOM_GENERATOR and kind.of.startswith("numpy.")
    return False


def _made_by(indices: ast.expr, model: SemanticModel) -> ast.Call | None:
    if isinstance(indices, ast.Call):
        return indices
    if not isinstance(indices, ast.Name):
        return None
    definitions = model.dataflow.definitions(indices)
    if (
        len(definitions) != 1
        or definitions[0].kind not in (BindingKind.ASSIGN, BindingKind.WALRUS)
        or definitions[0].path
    ):
        return None
    value = definitions[0].value
    if isinstance(value, ast.Subscript):
        value = value.value
        if isinstance(value, ast.Call) and model.names.qualified(value.func) != "numpy.random.permutation":
            return None
    return value if isinstance(value, ast.Call) else None
