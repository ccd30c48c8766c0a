"""Draws among the arithmetic that a loop, comprehension or `map` does for each item."""

from __future__ import annotations

import ast

from rlint.rule import (
    EffectKind,
    SemanticModel,
    Trait,
    Type,
    TypeTag,
    arguments_of,
    descendants,
    frozen,
    models,
    numbers,
    parameters,
    variable_names,
)
from rlint.rules.computation.rl509_draw_per_element.collected_values import Collected, collected, parts_of

_NUMPY = "numpy.random."
_DRAWS = models.doing(EffectKind.DRAWS, "numpy.random") - models.having(Trait.PICKS, "numpy.random")
_ROWS = models.giving(TypeTag.NDARRAY, "numpy.random")
_CHOICE = "numpy.random.choice"
_ONLY_SIZE = models.having(Trait.DRAWS_SHAPE, "numpy.random") | {
    "numpy.random.ranf",
    "numpy.random.sample",
    "numpy.random.standard_cauchy",
}
_BY_PYTHON = (models.doing(EffectKind.DRAWS, "random") - models.having(Trait.PICKS, "random")) - {
    "random.randbytes",
    "random.shuffle",
}
_BY_TORCH = models.having(Trait.DRAWS_SHAPE | Trait.DRAWS_LIKE, "torch") - {"torch.randperm"}
_SAMPLES = models.doing(EffectKind.DRAWS, TypeTag.DISTRIBUTION)
_COMPUTES = (
    models.having(Trait.OF_NUMBERS, "builtins")
    | models.having(Trait.ELEMENTWISE | Trait.PAIRWISE | Trait.LIMITS, "numpy", "torch", "math")
    | models.having(Trait.FROM_DATA, "numpy", "torch")
)
_KEEPS = models.having(Trait.KEEPS_VALUES | Trait.CASTS | Trait.CASTS_TO | Trait.TO_HOST, TypeTag.TENSOR)
_PARTS = (
    ast.Attribute, ast.BinOp, ast.BoolOp, ast.Compare, ast.Constant, ast.IfExp, ast.List, ast.Name,
    ast.Subscript, ast.Tuple, ast.UnaryOp, ast.keyword,
)  # fmt: skip
_NUMBERS = frozenset({TypeTag.INT, TypeTag.FLOAT, TypeTag.BOOL, TypeTag.NUMPY_SCALAR})
_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})


@frozen
class CollectedDraw:
    """A call that draws a number, or equal rows, for each item. `varies` says that its arguments differ from
    item to item.
    """

    call: ast.Call
    varies: bool


def drawn_per_item(node: ast.AST, model: SemanticModel) -> CollectedDraw | None:
    """Return the first draw of a collector that computes only numbers from its items: `[np.random.rand() < p
    for _ in range(n)]`, `x[k] += rng.normal()`, `np.array([random.gauss(m, s) for m, s in pairs])`.
    """
    found = collected(node, model)
    if found is None:
        return None
    calls = [
        part
        for value in found.values
        for part in descendants(value)
        if isinstance(part, ast.Call) and _draws(part, found, model)
    ]
    if not calls or (isinstance(node, ast.For) and model.frequency.drivers(node, iteration=True)):
        return None
    inside = frozenset(calls)
    if not all(_computes(part, found, model) for value in found.values for part in parts_of(value, inside)):
        return None
    return CollectedDraw(calls[0], _reads_item(arguments_of(calls[0]), found))


def _computes(part: ast.AST, found: Collected, model: SemanticModel) -> bool:
    """Whether a part of a value only computes with numbers or arrays, or reads the element of an array."""
    if isinstance(part, ast.Subscript) and variable_names(part.slice) & found.names:
        return model.types.type_of(part.value).tag in _ARRAYS
    if not isinstance(part, ast.Call):
        return isinstance(part, _PARTS)
    name = model.names.qualified(part.func)
    if name is not None:
        return name in _COMPUTES
    return isinstance(part.func, ast.Attribute) and part.func.attr in _KEEPS


def _draws(call: ast.Call, found: Collected, model: SemanticModel) -> bool:
    """Whether a call draws a number, or rows of one shape, with arguments that one call for all can take."""
    given = arguments_of(call)
    if any(isinstance(each, ast.Starred) for each in given) or None in {each.arg for each in call.keywords}:
        return False
    if not all(model.effects.is_repeatable(each) for each in given):
        return False
    path, owner = _path_of(call, model)
    if path.startswith(_NUMPY):
        return _draws_by_numpy(call, path, given, found, model)
    if path in _BY_PYTHON:
        return found.as_array and all(_is_number(each, found, model) for each in given)
    if not found.as_array or _reads_item([*given, call.func], found):
        return False
    if path in _BY_TORCH:
        return True
    return owner is not None and owner.tag is TypeTag.DISTRIBUTION and path in _SAMPLES and not given


def _path_of(call: ast.Call, model: SemanticModel) -> tuple[str, Type | None]:
    """Return the function that a call runs, for a method of a generator that of its module, and the type of
    the object whose method it is.
    """
    path = model.names.qualified(call.func)
    if path is not None or not isinstance(call.func, ast.Attribute):
        return path or "", None
    owner = model.types.type_of(call.func.value)
    method = call.func.attr
    if owner.tag is not TypeTag.RANDOM_GENERATOR or owner.of.startswith("torch."):
        return method, owner
    if owner.of.startswith("random."):
        return f"random.{method}", owner
    return _NUMPY + ("randint" if method == "integers" else method), owner


def _draws_by_numpy(
    call: ast.Call, path: str, given: list[ast.expr], found: Collected, model: SemanticModel
) -> bool:
    named = {each.arg for each in call.keywords}
    if path == _CHOICE:
        return _chooses(call, given, found, model)
    if path in _DRAWS and found.as_array and not _reads_item(given, found):
        return True  # a number, or a row
    if path not in _DRAWS or path in _ROWS or named & {"size", "dtype", "endpoint"}:
        return False
    taken = parameters.PARAMETERS.get(path)
    if taken is None:
        if len(call.args) > (0 if path in _ONLY_SIZE else 1):
            return False
    elif len(call.args) > (taken.index("size") if "size" in taken else 0):
        return False
    return all(_is_number(each, found, model) for each in given)


def _chooses(call: ast.Call, given: list[ast.expr], found: Collected, model: SemanticModel) -> bool:
    """Whether a call of `choice` picks one number, from the same numbers for each item."""
    named = {each.arg for each in call.keywords}
    if not call.args or len(call.args) > 1 or named - {"p"}:
        return False
    if _reads_item(given, found):
        return False
    return model.types.type_of(call.args[0]).tag in (TypeTag.INT, TypeTag.NDARRAY)


def _reads_item(values: list[ast.expr], found: Collected) -> bool:
    """Whether values differ from item to item."""
    return any(variable_names(each) & found.names for each in values)


def _is_number(argument: ast.expr, found: Collected, model: SemanticModel) -> bool:
    """Whether an argument is one number, or one number of each item that an array of them can replace."""
    moving = variable_names(argument) & found.names
    if moving & found.bound:
        return False  # what the previous iteration computed
    if not moving:
        fixed = numbers.number_of(argument, model)
        return (fixed is not None and fixed.fixed) or numbers.is_number(argument, model)
    return all(
        _is_item(part, found, model)
        for part in descendants(argument)
        if isinstance(part, ast.Name) and part.id in moving
    ) and all(
        isinstance(part, (*_PARTS, ast.expr_context, ast.operator, ast.unaryop))
        for part in descendants(argument)
    )


def _is_item(name: ast.Name, found: Collected, model: SemanticModel) -> bool:
    """Whether a variable of an item is a number, or selects an element of an array."""
    kind = model.types.type_of(name)
    if kind.tag in _NUMBERS:
        place = model.parent(name)
        if isinstance(place, ast.Subscript) and place.slice is name:
            return model.types.type_of(place.value).tag in _ARRAYS
        return True
    return any(
        isinstance(iterable, ast.Call) and _pairs_arrays(iterable, model)
        for target, iterable in found.iterated
        if name.id in variable_names(target)
    )


def _pairs_arrays(iterable: ast.Call, model: SemanticModel) -> bool:
    if model.names.qualified(iterable.func) != "builtins.zip":
        return False
    return all(model.types.type_of(each).tag in _ARRAYS for each in iterable.args)
