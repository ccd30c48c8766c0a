"""The fix for `choice` among integers: the function that draws them directly."""

from __future__ import annotations

import ast

from rlint.rule import (
    Applicability,
    Fix,
    Number,
    SemanticModel,
    TypeTag,
    numbers,
    rests_on_annotation,
    same_code,
)
from rlint.rules.buffers._shared.choice import Draw, Population, can_be_edited, renamed, shown
from rlint.rules.buffers._shared.lower_bounds import bounds_at, counted_by, has_items, is_positive


def draw_numbers(draw: Draw, population: Population, model: SemanticModel) -> Fix | None:
    """Call `randint` or `integers` instead."""
    name = "integers" if draw.generator else "randint"
    function = renamed(draw, name, model)
    if function is None or not can_be_edited(draw.call, model):
        return None
    first, size = draw.given["a"], draw.given.get("size")
    low_name, high_name = ("low=", "high=") if not draw.call.args else ("", "")
    low, high = (population.low, population.high) if population.made else (None, first)
    smallest = model.edit.as_argument(low) if low is not None else "0"
    instead = {first: f"{low_name}{smallest}, {high_name}{model.edit.as_argument(high)}"}
    if size is not None and size in draw.call.args:
        instead[size] = f"size={model.edit.as_argument(size)}"
    edit = model.edit.rewrite_call(
        draw.call,
        function=function,
        without=[draw.given[part] for part in ("replace", "p") if part in draw.given],
        instead=instead,
    )
    reason = doubt(draw, population, model)
    safety = Applicability.UNSAFE if reason else Applicability.SAFE
    return Fix(f"Draw with `{name}`", safety, (edit,), reason) if edit is not None else None


def doubt(draw: Draw, population: Population, model: SemanticModel) -> str | None:
    """Return the condition of the fix; None if it is safe."""
    first = shown(draw.given["a"], model)
    if not population.sure:
        return f"`{first}` must be an integer: from an array or a list, `choice` draws items"
    if isinstance(draw.call.func, ast.Attribute) and rests_on_annotation(draw.call.func.value, model):
        generator = shown(draw.call.func.value, model)
        return (
            f"`{generator}` must be of the class of its annotation: old and new generators have other methods"
        )
    if model.usage.reads_errors() and not finds_some(draw, population, model):
        return "if there is nothing to draw from, the error has another text, and the program reads errors"
    single = draw.size is None
    kind = model.types.type_of(draw.size) if draw.size is not None else None
    counted = kind is not None and kind.tag in (TypeTag.INT, TypeTag.TUPLE) and not kind.optional
    if draw.generator and not counted:
        return (
            "a single draw returns a NumPy scalar instead of a Python number" if not population.made else None
        )
    if population.made and not draw.generator:
        if not counted:
            drawn = "the draw" if single else "a single draw"
            return f"{drawn} returns a Python number instead of a NumPy scalar"
        never_empty = holds_some(draw, population, model) or positive(draw.size, model)
        if population.made == "builtins.range" and not never_empty:
            return (
                f"if `{first}` is empty and nothing is drawn, the empty result is an integer array "
                f"instead of a float one"
            )
    return None


def holds_some(draw: Draw, population: Population, model: SemanticModel) -> bool:
    """Whether the range surely is not empty, as a range from 5 to 2 is."""
    low = numbers.number_of(population.low, model) if population.low is not None else Number(0.0)
    high = numbers.number_of(population.high, model)
    if low is not None and high is not None and low.fixed and high.fixed and low.value < high.value:
        return True
    if population.low is not None:
        return False
    counted = counted_by(population.high, model)
    if counted is not None and has_items(counted, draw.call, model):
        return True
    return any(
        bound.than is not None and same_code(bound.value, population.high) and is_positive(bound, model)
        for bound in bounds_at(draw.call, model)
    )


def finds_some(draw: Draw, population: Population, model: SemanticModel) -> bool:
    """Whether the range surely is not empty if any number is drawn: it holds as many numbers as are drawn, or
    a test before the draw shows that.
    """
    if holds_some(draw, population, model):
        return True
    if draw.size is None or population.low is not None:
        return False
    if same_code(draw.size, population.high) and model.effects.effect_of(draw.size).quiet:
        return True
    return any(
        same_code(bound.value, population.high) and same_code(bound.than, draw.size)
        for bound in bounds_at(draw.call, model)
    )


def positive(expression: ast.expr | None, model: SemanticModel) -> bool:
    """Whether an expression surely is a positive number."""
    number = numbers.number_of(expression, model) if expression is not None else None
    return number is not None and number.fixed and number.value > 0
