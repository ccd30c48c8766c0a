"""Functions and loops that evaluate a network, by their names and by their data."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from rlint.rule import AnyLoop, Function, SemanticModel, descendants, regex

EVALUATES = frozenset(
    """eval evaluate evaluation evaluating evaluator val valid validate validation test testing arena
    benchmark probe""".split()
)
DATA = EVALUATES | {"holdout", "heldout"}
LEARNS = frozenset("train training fit learn update optimize optimise finetune calibrate".split())
ENDS = ("loader", "set", "data", "dataset", "iter", "batches", "dl")
MEANT = frozenset("mc uncertainty bayesian stochastic epistemic ensemble".split())
_MAY_MEAN_DATA = regex("|".join(sorted(DATA)), re.IGNORECASE)  # most names contain none of the words


def may_evaluate(function: Function | None, model: SemanticModel) -> bool:
    """Whether any code in a function (None: at module level) can be evaluation: by its name, or because it
    loops over evaluation data.
    """
    loops = model.analysis.loops.of_function.get(function)
    if loops is None:
        return False  # a network is evaluated in a loop
    words = words_in(function.name) if function is not None else frozenset()
    if not (words.isdisjoint(MEANT) and words.isdisjoint(LEARNS)):
        return False
    if means_to_evaluate(function) or any(map(is_over_data, loops)):
        return True
    return function is not None and model.once(is_called_by_evaluation, function)


def means_to_evaluate(function: Function | None) -> bool:
    """Whether a function is named after an evaluation."""
    return function is not None and means_evaluation(function.name)


def evaluates(call: ast.Call, loops: list[AnyLoop], model: SemanticModel) -> bool:
    """Whether these loops of a function that may evaluate do so, rather than train."""
    function = model.function(call)
    learning = [call for name in ("backward", "train") for call in model.names.calls_named(name, function)]
    if means_to_evaluate(function):
        return not learning
    if any(map(is_over_data, loops)):
        return not any(loops[-1] in model.ancestors(other) for other in learning)
    return not learning and function is not None and model.once(is_called_by_evaluation, function)


def is_called_by_evaluation(function: Function, model: SemanticModel) -> bool:
    """Whether all functions that call a function are named after evaluations."""
    body = function.body if isinstance(function.body, ast.expr) else function.body[0]
    callers = [caller for caller, _ in model.usage.call_sites(body)]
    return bool(callers) and all(means_evaluation(caller.name) for caller in callers)


def is_over_data(loop: AnyLoop) -> bool:
    """Whether a loop iterates over data that are named after evaluation."""
    return any(map(means_data, iterated(loop)))


@lru_cache(maxsize=4096)
def means_data(name: str) -> bool:
    """Whether a name is that of evaluation data."""
    return _MAY_MEAN_DATA.search(name) is not None and not words_in(name).isdisjoint(DATA)


@lru_cache(maxsize=4096)
def means_evaluation(name: str) -> bool:
    """Whether a name is that of an evaluation."""
    return _MAY_MEAN_DATA.search(name) is not None and not words_in(name).isdisjoint(EVALUATES)


def iterated(loop: AnyLoop) -> Iterator[str]:
    """Yield the names in the iterable of a loop."""
    if isinstance(loop, ast.While):
        return
    over = [loop.iter] if isinstance(loop, (ast.For, ast.AsyncFor)) else [g.iter for g in loop.generators]
    for node in (child for value in over for child in descendants(value)):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


@lru_cache(maxsize=4096)
def words_in(name: str) -> frozenset[str]:
    """Return the words of a name: evaluate, all and policy for `evaluateAll_policy`."""
    spaced = name if name.islower() else "".join(f" {char}" if char.isupper() else char for char in name)
    words = {word.strip("0123456789").lower() for word in spaced.replace("_", " ").split()}
    return frozenset(words | {word.removesuffix(end) for word in words for end in ENDS})
