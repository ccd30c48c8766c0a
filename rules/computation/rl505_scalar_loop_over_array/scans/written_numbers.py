"""Loops that write one number of Python after the other into a new tensor."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, models, trip_count
from rlint.rules.computation._shared.stratified_draws import is_short
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop

_CREATES = models.having(Trait.ALLOCATES, "torch")
_NUMBERS = frozenset({TypeTag.INT, TypeTag.FLOAT, TypeTag.BOOL, TypeTag.NUMPY_SCALAR})


def written_numbers(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Return the writes of `for i, item in enumerate(batch): places[i] = number`, where `places` is a tensor
    that the function has just allocated, and `number` is computed by other code of the loop.
    """
    counter = _counter(loop, model)
    if counter is None or loop.orelse or trip_count.over_components(loop, model):
        return None
    if is_short(loop, model):
        return None
    for statement in loop.body:
        match statement:
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name() as held, slice=ast.Name(id=place))], value=value
            ) if place == counter and _is_number(value, model) and _is_new(held, loop, model):
                if model.frequency.driving_loop(statement) is loop:
                    return None  # an environment step or a forward pass takes far longer
                text = model.source.text(held)
                return ItemLoop(
                    held,
                    f"writes a number into `{text}` in each iteration, one operation of torch each,",
                    f"Append the numbers to a list, and create the tensor from it: `{text} = "
                    "torch.tensor(numbers)`",
                    sized=True,
                    at=statement,
                )
    return None


def _counter(loop: ast.For, model: SemanticModel) -> str | None:
    """Return the counter of `for i in range(n)` or `for i, item in enumerate(items)`."""
    match loop.iter, loop.target:
        case ast.Call(func=func, args=[_]), ast.Name(id=name):
            return name if model.names.qualified(func) == "builtins.range" else None
        case ast.Call(func=func, args=[_]), ast.Tuple(elts=[ast.Name(id=name), _]):
            return name if model.names.qualified(func) == "builtins.enumerate" else None
    return None


def _is_number(value: ast.expr, model: SemanticModel) -> bool:
    return not isinstance(value, ast.Constant) and model.types.type_of(value).tag in _NUMBERS


def _is_new(held: ast.Name, loop: ast.For, model: SemanticModel) -> bool:
    """Whether a variable holds a tensor with one dimension that the function allocated before the loop."""
    kind = model.types.type_of(held)
    if kind.tag is not TypeTag.TENSOR or kind.rank not in (1, None):
        return False
    made = model.dataflow.definitions(held)
    return bool(made) and all(
        each.value is not None
        and _allocates(each.value, model)
        and model.function(each.node) is model.function(loop)
        and each.statement not in loop.body
        for each in made
    )


def _allocates(value: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression allocates a tensor, and perhaps casts or moves it."""
    while isinstance(value, ast.Call):
        if model.names.qualified(value.func) in _CREATES:
            return True
        if not isinstance(value.func, ast.Attribute):
            return False
        value = value.func.value
    return False
