"""Whether a forward pass without a gradient costs enough to report: it runs in each step, or on many rows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Driver,
    Function,
    Heat,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    models,
    weight_sync,
)

MANY = frozenset(
    """batch minibatch states observations frames images sequences sequence ids tokens completions prompts
    trajectories paths episodes rollouts rollout data dataset inputs transitions segments
    experiences buffer memory storage store""".split()
)
_OF_SEQUENCES = 3
"""Number of dimensions of a batch of sequences."""
_OF_LOSSES = frozenset({"loss", "losses", "surrogate", "objective", "kl"})
_DEPTH = 4
"""Maximum number of assignments and calls that a value is followed through."""
_UPDATES = ("update", "train", "learn", "optimi", "step")
SINGLE = frozenset({"last", "final", "next", "bootstrap"})
CONVERTS = models.having(Trait.FROM_DATA | Trait.LEGACY, "torch", "numpy")
_JOINS = models.having(Trait.JOINS, "torch", "numpy")
KEEPS = models.having(Trait.KEEPS_VALUES, TypeTag.TENSOR, TypeTag.NDARRAY)


def is_worth_it(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the forward pass runs per step, or for a whole batch."""
    if model.frequency.heat_of(call).level is Heat.HOT:
        return True
    function = model.function(call)
    if function is not None and model.once(_learns_from_batch, function):
        return True
    if _OF_LOSSES & weight_sync.words_of(call.func, model):
        return True  # losses are computed for batches
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    sources = [source for argument in given for source in _converted(argument, model)]
    if any(is_joined(source, model) for source in sources):
        return True
    words = {word for argument in given for word in _words_of_origins(argument, model)}
    if words & SINGLE:
        return any(is_sampled(one, model) for one in sources)
    if function is not None and model.once(_is_part_of_update, function):
        return True
    if any(model.types.type_of(argument).rank == _OF_SEQUENCES for argument in given):
        return True
    return bool(words & MANY) or any(is_sampled(one, model) for one in sources)


def _learns_from_batch(function: Function, model: SemanticModel) -> bool:
    """Whether a function computes gradients for data that it is passed: the rows of a batch or rollout."""
    return _gets_data(function, model) and _computes_gradients(function)


def _computes_gradients(function: Function) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward"
        for node in descendants(function)
    )


def _is_part_of_update(function: Function, model: SemanticModel) -> bool:
    """Whether a method only computes a value for updates on data that these are passed: advantages of a
    rollout.
    """
    if model.class_of(function) is None or function.name.startswith("__"):
        return False
    uses = model.names.attribute_uses(function.name)
    return bool(uses) and all(
        model.names.is_self(use.value)
        and isinstance(model.parent(use), ast.Call)
        and (caller := model.function(use)) is not None
        and _gets_data(caller, model)
        and (caller.name.lstrip("_").startswith(_UPDATES) or _computes_gradients(caller))
        for use in uses
    )


def _gets_data(function: Function, model: SemanticModel) -> bool:
    """Whether a function is passed data, and steps no environment."""
    summary = model.symbols.function_at(function.body[0])
    if summary is None or len(summary.parameters) < 2:
        return False
    every = (summary.drivers, *(loop.drivers for loop in summary.loops))
    return all(Driver.ENVIRONMENT_STEP not in drivers for drivers in every)


def _words_of_origins(value: ast.expr, model: SemanticModel) -> set[str]:
    """Return the words in the names of a value, and of the values that it is computed from: paths for
    `features`, if `features = self.encode(paths)`.
    """
    words = set[str]()
    pending, seen = [(value, _DEPTH)], set[ast.expr]()
    while pending:
        each, depth = pending.pop()
        for source in _converted(each, model):
            if source in seen:
                continue
            seen.add(source)
            words |= weight_sync.words_of(source, model)
            if isinstance(source, ast.Name) and depth > 0:
                made = [binding for binding in model.dataflow.definitions(source) if not binding.path]
                pending += [(binding.value, depth - 1) for binding in made if binding.value is not None]
            elif isinstance(source, ast.Call):
                names = (node for part in source.args for node in descendants(part))
                pending += [(node, depth) for node in names if isinstance(node, ast.Name)]
    return words


def is_joined(value: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether a value is rows that were collected in a list, joined: `torch.stack(self.memory.states)`."""
    match value:
        case ast.Call(func=func, args=[rows, *_]) if model.names.qualified(func) in _JOINS:
            return not isinstance(rows, (ast.List, ast.Tuple))
        case ast.Name() if depth > 0:
            made = [binding.value for binding in model.dataflow.definitions(value) if not binding.path]
            return bool(made) and all(
                one is not None and any(is_joined(each, model, depth - 1) for each in _converted(one, model))
                for one in made
            )
    return False


def is_sampled(value: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether a value is part of a batch sampled from a buffer: `state, action = memory.sample(64)`, then
    converted.
    """
    if not isinstance(value, ast.Name) or depth <= 0:
        return False
    made = [binding.value for binding in model.dataflow.definitions(value)]
    return bool(made) and all(one is not None and _is_drawn(one, model, depth) for one in made)


def _is_drawn(made: ast.expr, model: SemanticModel, depth: int) -> bool:
    match made:
        case ast.Call(func=ast.Attribute(attr=method), args=[_, *_]) if method.startswith("sample"):
            return True
    return any(is_sampled(source, model, depth - 1) for source in _converted(made, model))


def _converted(argument: ast.expr, model: SemanticModel) -> Iterator[ast.expr]:
    """Yield an argument, and the values converted to it: `states` for `torch.Tensor(states).to(device)`."""
    yield argument
    match argument:
        case ast.Call(func=func, args=[data, *_]) if model.names.qualified(func) in CONVERTS:
            yield from _converted(data, model)
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in KEEPS:
            yield from _converted(owner, model)
