"""Draws after which the same function assembles its batch item by item, which takes far longer."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, descendants, last_name, regex
from rlint.rules.buffers._shared.choice import Draw, Population

_EPISODES = regex(r"(^|_)(traj|trajs|trajectory|trajectories|episodes?|eps|games|rollouts?|paths)(_|$)")
_FEWEST_CALLS = 3
"""A loop with so many calls for each drawn item takes longer than the draw."""
_ONE_BY_ONE = "the loop over the drawn items takes far longer than the draw"
_OF_EPISODES = "it draws from trajectories, of which there are few, and which are then read one by one"
_FEW = "a draw from few items takes some microseconds"


def why_little(draw: Draw, population: Population, model: SemanticModel) -> str | None:
    """Return why a draw costs little beside what follows it: among trajectories, or among other items that a
    Python loop then processes one by one, or from a list of few items. None for others: to draw from
    `range(n)` takes longer than a loop over a batch if `n` is the size of a replay buffer.
    """
    if any(_EPISODES.search(name.lower()) for name in _names_in(population.high)):
        return _OF_EPISODES
    if population.made == "builtins.range":
        return None
    if any(_is_long(loop) for loop in _loops_over(draw, model)):
        return _ONE_BY_ONE
    return None if population.made or model.sizes.has_many(draw.call) else _FEW


def _names_in(part: ast.expr) -> list[str]:
    """Return the names that an expression reads, without those of functions."""
    found: list[str] = []
    for node in descendants(part):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                found.append(name)
            case ast.Constant(value=str() as key):
                found.append(key)
    return found


def _loops_over(draw: Draw, model: SemanticModel) -> list[ast.For]:
    """Return the loops after a draw of several numbers that use one of them in each iteration: `for index in
    drawn`, or `drawn[i]` in `for i in range(n)`.
    """
    if draw.size is None:
        return []
    value: ast.AST = draw.call
    while isinstance(around := model.parent(value), (ast.IfExp, ast.Call, ast.Attribute)):
        value = around  # `choice(…).tolist()`
    match around:
        case ast.Assign(targets=[ast.Name() as drawn]):
            pass
        case ast.For(iter=iterable) if iterable is value:
            return [around]
        case _:
            return []
    scope = model.names.scope(drawn).lookup(drawn.id)
    reads = model.names.reads(drawn.id, scope) if scope is not None else []
    return [loop for read in reads if (loop := _loop_of(read, model)) is not None]


def _loop_of(read: ast.Name, model: SemanticModel) -> ast.For | None:
    """Return the loop that iterates over a list of numbers, or looks up one of them in each iteration."""
    for around in model.ancestors(read):
        match around:
            case ast.Call(func=func) if last_name(func) in ("enumerate", "zip", "tqdm"):
                continue
            case ast.For(iter=iterable) if any(part is read for part in descendants(iterable)):
                return around
        break
    match model.parent(read):
        case ast.Subscript(value=value, slice=ast.Name(id=index)) if value is read:
            loops = model.frequency.loops(read)
            return next((loop for loop in loops if isinstance(loop, ast.For) and _counts(loop, index)), None)
    return None


def _counts(loop: ast.For, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in descendants(loop.target))


def _is_long(loop: ast.For) -> bool:
    """Whether an iteration makes several calls."""
    calls = (node for part in loop.body for node in descendants(part) if isinstance(node, ast.Call))
    return sum(1 for _ in calls) >= _FEWEST_CALLS
