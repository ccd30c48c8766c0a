"""How often a loop runs, and whether it has enough iterations."""

from __future__ import annotations

import ast

from rlint.rule import Heat, SemanticModel, TypeTag, descendants, last_name, regex, trip_count
from rlint.rules.computation.rl505_scalar_loop_over_array.elements import ElementAccess, held_by

_FEW = 12
_LARGE = regex(r"logits$")
_COMPILERS = frozenset({"njit", "jit", "vectorize", "guvectorize"})
OF_FEW = regex(r"env|worker|agent|actor|player|process|rank|action|joint|motor|goal|dim")
_PAIRED_FEW = regex(r"env|worker|agent|player|process|rank|joint|motor|^(actor|action|goal|dim)s?$|_dims?$")
"""The same for sequences of one item per step, such as `saved_actions`."""


def is_of_one_step(loop: ast.AST, model: SemanticModel) -> bool:
    """Whether a loop runs in environment steps alone, also in a method of an environment or a wrapper, and
    over no tensors, as those of vectorised simulators.
    """
    cadence = model.frequency.cadence(loop)
    if not (is_of_environment(loop, model) if cadence is None else cadence.only_steps_environment):
        return False
    return not any(
        model.types.type_of(part).tag is TypeTag.TENSOR
        for part in descendants(loop)
        if isinstance(part, (ast.Name, ast.Attribute))
    )


def is_of_environment(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a node is in a method of an environment, or of a wrapper of one."""
    cls = model.class_of(node)
    summary = model.module.classes.get(model.syntax.qualname(cls)) if cls is not None else None
    return summary is not None and model.index.class_kind(summary).tag is TypeTag.ENVIRONMENT


def is_hot(node: ast.AST, model: SemanticModel) -> bool:
    """Whether code runs in each step, or for each step of a rollout, or is called in nested loops."""
    return model.frequency.heat_of(node).level is Heat.HOT or is_called_in_nested_loops(node, model)


def is_called_in_nested_loops(node: ast.AST, model: SemanticModel) -> bool:
    """Whether cold code is called in two loops or more, which likely are those over games and their moves."""
    if model.frequency.heat_of(node).level is not Heat.COLD or model.module.is_test:
        return False
    return model.frequency.is_called_in_loops(node, nested=True)


def is_compiled(node: ast.AST, model: SemanticModel) -> bool:
    """Whether numba compiles the function, whose loops are then as fast as vectorised operations."""
    function = model.function(node)
    return function is not None and any(
        last_name(decorator.func if isinstance(decorator, ast.Call) else decorator) in _COMPILERS
        and not (model.names.qualified(decorator) or "").startswith("torch.")
        for decorator in function.decorator_list
    )


def is_repeated(loop: ast.AST, body: ast.AST, model: SemanticModel) -> bool:
    """Whether a loop runs in each step, or in each round with an iteration for each step."""
    if is_hot(loop, model):
        return True
    return model.frequency.heat_of(loop).level is Heat.WARM and is_hot(body, model)


def is_short(
    found: ElementAccess,
    model: SemanticModel,
    rows: ast.expr | None = None,
    paired: tuple[ast.expr, ...] = (),
) -> bool:
    """Whether there are or may be few iterations, such as one per environment or joint. `rows` is the array
    whose rows the loop iterates over, if its name says more than the iterable; `paired` are the sequences
    that it iterates over together, whose last names count.
    """
    if model.analysis.loops.is_bounded(found.loop):
        return True
    count = trip_count.passes(found.loop, model)
    if count is not None and len(found.counters) < 2:
        return count <= _FEW
    if trip_count.over_components(found.loop, model) or trip_count.over_environments(found.loop, model):
        return True
    iterable = found.loop.iter if isinstance(found.loop, ast.For) else found.loop.generators[0].iter
    iterable = rows if rows is not None else iterable
    if paired:
        return any(_PAIRED_FEW.search((last_name(sequence) or "").lower()) for sequence in paired)
    names = [model.source.text(iterable), *(model.source.text(held_by(element)) for element in found.arrays)]
    return any(OF_FEW.search(name.lower()) for name in names)


def saves_memory(array: ast.expr, model: SemanticModel) -> bool:
    """Whether an array is a tensor with a row for each token, processed row by row to save memory."""
    is_large = _LARGE.search(model.source.text(array).lower())
    return bool(is_large) and model.types.type_of(array).tag is TypeTag.TENSOR
