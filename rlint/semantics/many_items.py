"""Whether loops and values likely have many items: rows of a batch, steps of a rollout, pixels of an image.

The evidence is that of names and types, for places of which no number is known. It decides how much a finding
matters, never whether a fix is safe.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlint.findings import TrainingStep
from rlint.models.value_type import TypeTag
from rlint.models.vocabulary import OF_MANY, OF_MANY_IN_LEARNING
from rlint.semantics.frequency import trip_count
from rlint.syntax.syntax_index import COMPREHENSIONS, LOOPS
from rlint.syntax.walk import children, descendants

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

_DEPTH = 3
"""Maximum number of assignments that are followed."""
_ALL_LOOPS = (*LOOPS, *COMPREHENSIONS)


def has_many(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a loop or comprehension, the values that a call takes, or else the innermost loop around a node
    likely has many items.
    """
    learns = _learns(node, model)
    return any(_is_of_many(each, model, _DEPTH, learns=learns) for each in _counted(node, model))


def _learns(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a node runs in gradient steps, or once for the data of many steps: the arrays of a single
    environment step are small, whatever their names.
    """
    beat = model.frequency.cadence(node)
    return (
        beat is None
        or bool(beat.inner)
        or any(driver.step is TrainingStep.GRADIENT for driver in beat.drivers)
    )


def _counted(node: ast.AST, model: SemanticModel) -> Iterator[ast.expr]:
    """Yield the values over which a place iterates, also in inner loops."""
    if isinstance(node, ast.Call) and node.args:
        for value in node.args:
            yield from _counted(value, model) if isinstance(value, COMPREHENSIONS) else (value,)
        return
    parts = descendants(node)
    if not isinstance(node, _ALL_LOOPS):
        around = next((each for each in model.ancestors(node) if isinstance(each, _ALL_LOOPS)), node)
        parts = [around, *children(around)]
    for part in parts:
        if isinstance(part, ast.While):
            yield part.test
        elif isinstance(part, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield part.iter


def _is_of_many(value: ast.expr, model: SemanticModel, depth: int, *, learns: bool) -> bool:
    """Whether a value or a number is that of a batch or the like, by the names in it and in what it is
    computed from, or of the rows of a tensor in learning.
    """
    for part in _telling(value):
        if learns and _is_of_tensor(part, value, model):
            return True
        if not isinstance(part, (ast.Name, ast.Attribute)):
            continue
        if _names_many(part.id if isinstance(part, ast.Name) else part.attr, learns=learns):
            return True
        if isinstance(part, ast.Name) and depth > 0:
            sources = (binding.value for binding in model.dataflow.definitions(part))
            if any(
                source is not None and _is_of_many(source, model, depth - 1, learns=learns)
                for source in sources
            ):
                return True
    return False


def _telling(value: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a value that tell how many items it has: not the places that it reads elsewhere,
    such as `environment` of `alive[:, environment]`, but the bounds of a part of it; nor other dimensions of
    a batch.
    """
    match value:
        case (
            ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant(value=axis))
            | ast.Call(func=ast.Attribute(attr="size"), args=[ast.Constant(value=axis)])
        ) if axis != 0:
            return
    yield value
    for child in children(value):
        is_place = isinstance(value, ast.Subscript) and child is value.slice
        if not is_place or isinstance(child, ast.Slice):
            yield from _telling(child)


def _is_of_tensor(part: ast.AST, value: ast.expr, model: SemanticModel) -> bool:
    """Whether a part of an iterable is the tensor over whose rows it iterates, or the number of these."""
    match part:
        case ast.Call(func=ast.Name(id="len"), args=[ast.expr() as owner]):
            pass
        case (
            ast.Call(func=ast.Attribute(attr="size", value=owner), args=[ast.Constant(value=0)])
            | ast.Subscript(value=ast.Attribute(attr="shape", value=owner), slice=ast.Constant(value=0))
        ):
            pass
        case ast.expr() if part is value:
            owner = part
        case _:
            return False
    return model.types.type_of(owner).tag in (TypeTag.TENSOR, TypeTag.BATCH)


def _names_many(name: str, *, learns: bool) -> bool:
    lower = name.lower()
    if trip_count.names_parts(lower) or trip_count.is_number_of_parts(lower):
        return False
    parts = set(lower.split("_"))
    return not OF_MANY.isdisjoint(parts) or (learns and not OF_MANY_IN_LEARNING.isdisjoint({lower, *parts}))
