"""Log-probabilities of all positions of sequences, of which only some are kept: `log_probs[:, start:]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import SemanticModel, Trait, TypeTag, last_name, models, numbers, regex

_LOG_PROBS = regex(r"log_?p(rob(abilitie)?s?)?(_|$)|log_?softmax")
_OF_ALL = frozenset({"log_softmax"})
_TAKES = frozenset({"gather", "take_along_dim"})
_SAME_POSITIONS = models.having(Trait.KEEPS_VALUES | Trait.CASTS | Trait.RELOCATES, TypeTag.TENSOR) | {
    "squeeze"
}
_DEPTH = 4


def kept_positions(call: ast.Call, model: SemanticModel) -> ast.Subscript | None:
    """Return the slice that keeps some positions of the log-probabilities that a call computes from logits,
    if code reads no others.
    """
    name = last_name(call.func) or ""
    if not _LOG_PROBS.search(name.lower()) or not call.args or not _is_logits(call.args[0], model):
        return None
    cuts = list(_cuts(call, _DEPTH, model, gathered=name not in _OF_ALL))
    return cuts[0] if cuts and None not in cuts else None


def _is_logits(given: ast.expr, model: SemanticModel) -> bool:
    """Whether an argument is called logits, and is not cut already: `logits[:, :-1]`, `output["logits"]`."""
    while isinstance(given, ast.Subscript) and isinstance(given.slice, ast.Tuple):
        if any(_drops_first(axis, model) for axis in given.slice.elts):
            return False
        given = given.value
    if isinstance(given, ast.Subscript) and isinstance(given.slice, ast.Constant):
        return "logits" in str(given.slice.value)
    if isinstance(given, ast.BinOp):
        return _is_logits(given.left, model)
    return isinstance(given, (ast.Name, ast.Attribute)) and "logits" in (last_name(given) or "").lower()


def _cuts(
    value: ast.expr, depth: int, model: SemanticModel, *, gathered: bool
) -> Iterator[ast.Subscript | None]:
    """Yield the slices that a value is used for; None for another use, or if a slice keeps nearly all."""
    parent = model.parent(value)
    method = parent.attr if isinstance(parent, ast.Attribute) else ""
    if method in _TAKES or method in _SAME_POSITIONS:
        called = model.parent(parent) if parent is not None else None
        if isinstance(called, ast.Call):
            yield from _cuts(called, depth, model, gathered=gathered or method in _TAKES)
            return
    match parent:
        case ast.Call(func=func, args=[first, *_]) if first is value and last_name(func) in _TAKES:
            yield from _cuts(parent, depth, model, gathered=True)
        case ast.Subscript(slice=ast.Tuple(elts=[first, positions, *more]) as axes) if parent.value is value:
            is_cut = _is_whole(first) and _drops_first(positions, model)
            yield parent if is_cut and (gathered or (more and len(axes.elts) > 2)) else None
        case ast.Assign(targets=[ast.Name() as target]) if depth > 0:
            binding = model.syntax.variables.bound_at(target)
            scope = model.names.scope(target).lookup(target.id)
            if binding is None or scope is None or model.names.is_captured(target.id, scope):
                yield None
                return
            for read in model.analysis.readers(binding, scope):
                yield from _cuts(read, depth - 1, model, gathered=gathered)
        case _:
            yield None


def _is_whole(axis: ast.expr) -> bool:
    return isinstance(axis, ast.Slice) and axis.lower is axis.upper is axis.step is None


def _drops_first(axis: ast.expr, model: SemanticModel) -> bool:
    """Whether a slice drops more than one of the first positions: `start:end`, `-count:`, not `1:`."""
    if not isinstance(axis, ast.Slice) or axis.lower is None:
        return False
    first = numbers.number_of(axis.lower, model)
    return first is None or first.value not in (0, 1)
