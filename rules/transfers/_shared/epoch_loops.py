"""Loops over epochs in which the same data are copied to the device again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    AnyLoop,
    BindingKind,
    Driver,
    EffectKind,
    Function,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    frozen,
    is_in,
    models,
)

ONCE = "Copy the data to the device once, before the loop over epochs, and index them there"
_FOR = (ast.For, ast.AsyncFor)
_MODIFIES = models.mutators(TypeTag.LIST, TypeTag.DICT, TypeTag.DEQUE, TypeTag.NDARRAY, TypeTag.TENSOR)
_MAY_BE_ARRAYS = (TypeTag.TENSOR, TypeTag.NDARRAY, TypeTag.LIST, TypeTag.UNKNOWN)
_DEPTH = 4
_COPIES = models.names_having(Trait.COPIES | Trait.FROM_DATA | Trait.JOINS, "numpy", "torch")
"""Functions that convert or join data."""


@frozen
class CopiedAgain:
    """The data of which an epoch copies all or a part, and the loop over epochs, in which they stay the
    same.
    """

    data: ast.expr
    loop: AnyLoop
    is_part: bool

    def says(self, model: SemanticModel) -> str:
        """Return this in words, to be added to a message."""
        what = "parts of " if self.is_part else ""
        text = " ".join(model.source.text(self.data).split())
        return f", again in each epoch: {what}`{text}`, which does not change in the loop over epochs"

    def is_listed(self, model: SemanticModel) -> bool:
        """Whether all items of a list are converted in each epoch, which takes longer than the copy."""
        return not self.is_part and model.types.type_of(self.data).tag in (TypeTag.LIST, TypeTag.DEQUE)


def copied_again(value: ast.expr, model: SemanticModel) -> CopiedAgain | None:
    """Return the data that are copied again in each iteration of a loop which takes gradient steps and only
    counts its epochs: `for _ in range(epochs): states = torch.tensor(self.states).to(device)`, also part by
    part in an inner loop (`states[rows]`).
    """
    loops = model.frequency.loops(value)
    for depth, loop in enumerate(loops):
        if not _is_over_epochs(loop, model):
            continue
        found = _data_of(value, loop, model, _DEPTH)
        if found is None:
            continue
        data, is_part = found
        if is_part and depth == 0:
            continue  # one pass over the data
        return CopiedAgain(data, loop, is_part)
    return None


def _is_over_epochs(loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether a loop counts, and takes gradient steps."""
    if not isinstance(loop, _FOR) or not isinstance(loop.target, ast.Name):
        return False
    if not isinstance(loop.iter, ast.Call) or model.names.qualified(loop.iter.func) not in (
        "builtins.range",
        "tqdm.trange",
    ):
        return False
    summary, index = model.symbols.function_at(loop), model.analysis.loops.index.get(loop)
    if summary is None or index is None:
        return False
    drivers = {driver for part in _inner(loop, model) for driver in summary.loops[part].drivers}
    beat = model.frequency.cadence(loop.body[0])
    if beat is not None:
        drivers |= beat.drivers
    return Driver.GRADIENT_STEP in drivers and Driver.ENVIRONMENT_STEP not in drivers


def _inner(loop: AnyLoop, model: SemanticModel) -> Iterator[int]:
    for other, index in model.analysis.loops.index.items():
        if other is loop or is_in(other, loop):
            yield index


def _data_of(
    value: ast.expr, loop: AnyLoop, model: SemanticModel, depth: int
) -> tuple[ast.expr, bool] | None:
    """Return the data that a value copies and that stay the same in a loop, and whether it is a part of
    them.
    """
    if depth <= 0:
        return None
    match value:
        case ast.Name():
            bound = model.dataflow.definitions(value)
            if bound and not any(is_in(each.node, loop) for each in bound):
                return (value, False) if _stays(value, loop, model) else None
            if len(bound) == 1 and bound[0].kind is BindingKind.ASSIGN and not bound[0].path:
                made = bound[0].value
                return _data_of(made, loop, model, depth - 1) if made is not None else None
            return None
        case ast.Attribute(value=ast.Name()):
            return (value, False) if _stays(value, loop, model) else None
        case ast.Subscript(value=owner, slice=index):
            found = _data_of(owner, loop, model, depth - 1)
            names = {node.id for node in descendants(index) if isinstance(node, ast.Name)}
            return (found[0], found[1] or bool(names)) if found is not None else None
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args):
            if name in _COPIES and model.names.qualified(value.func) is not None:
                return _data_of(args[0], loop, model, depth - 1) if args else None
            if args or not _only_converts(owner, name, model):
                return None  # `buffer.sample()`: other data each time
            return _data_of(owner, loop, model, depth - 1)
    return None


def _only_converts(owner: ast.expr, method: str, model: SemanticModel) -> bool:
    """Whether a method of a value is one of arrays or tensors that only depends on it: `states.float()`."""
    if model.types.type_of(owner).tag not in _MAY_BE_ARRAYS or method in _MODIFIES:
        return False
    return any(
        (fact := models.method_fact(tag, method)) is not None and fact.effect.kind <= EffectKind.READS
        for tag in (TypeTag.TENSOR, TypeTag.NDARRAY)
    )


def _stays(value: ast.Name | ast.Attribute, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether no statement of a loop, nor of the methods that it calls on the same object, changes a value
    visibly.
    """
    if isinstance(value, ast.Name):
        scope = model.names.scope(value).lookup(value.id)
        uses = model.names.uses(value.id, scope) if scope is not None else []
        return not any(is_in(use, loop) and _is_changed(use, model) for use in uses)
    called = [loop, *_methods_called_in(loop, model)]
    text = model.source.text(value)
    return not any(
        model.source.text(use) == text
        and any(is_in(use, part) for part in called)
        and _is_changed(use, model)
        for use in model.names.attribute_uses(value.attr)
    )


def _methods_called_in(loop: AnyLoop, model: SemanticModel) -> list[Function]:
    """Return the methods of this file that a loop calls on `self`."""
    calls = (node for node in descendants(loop) if isinstance(node, ast.Call))
    own = (call for call in calls if isinstance(call.func, ast.Attribute))
    targets = (
        target
        for call in own
        if isinstance(call.func, ast.Attribute) and model.names.is_self(call.func.value)
        for target in model.types.call_targets(call)
    )
    found = (model.types.definition(target) for target in targets)
    return [function for function in found if function is not None]


def _is_changed(use: ast.Name | ast.Attribute, model: SemanticModel) -> bool:
    """Whether a variable or attribute is set here, or its value modified: `rows.clear()`, `rows[0] = row`."""
    if not isinstance(use.ctx, ast.Load):
        return True
    around = model.parent(use)
    match around:
        case ast.Attribute(attr=name):
            return name in _MODIFIES and isinstance(model.parent(around), ast.Call)
        case ast.Subscript(value=owner, ctx=ast.Store() | ast.Del()):
            return owner is use
    return False
