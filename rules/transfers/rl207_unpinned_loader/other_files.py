"""Loaders that a function returns to callers in other files, which move the batches."""

from __future__ import annotations

import ast

from rlint.rule import (
    CallSite,
    Device,
    FunctionSummary,
    SemanticModel,
    Type,
    TypeTag,
    batches,
)
from rlint.rules.transfers.rl207_unpinned_loader.feeds import TAKES_OVER

_TENSORS = (TypeTag.BATCH, TypeTag.TENSOR)


def moved_in_other_file(loader: ast.Call, model: SemanticModel) -> str | None:
    """Return the place in another file where a caller of the function around a loader gets the loader, if it
    moves batches in memory that is not pinned to a device, or a function that it passes them to in a loop
    does; None if there is none, or if a library takes the loader over.
    """
    own = model.symbols.module.module
    for caller, site in model.usage.call_sites(loader):
        if caller.module == own or any(call.method in TAKES_OVER for call in caller.calls):
            continue
        moved = (model.index.resolve(path, caller.module) for path in caller.copied_items)
        passed = (call for call in caller.calls if call.loop >= 0)
        if any(map(_is_collated, moved)) or any(_moves_batch(call, caller, model) for call in passed):
            return f"{model.index.modules[caller.module].path}:{site.line}"
    return None


def _moves_batch(call: CallSite, caller: FunctionSummary, model: SemanticModel) -> bool:
    """Whether a call passes an unpinned batch, or a part of one, to a function that moves it."""
    for place, kind in call.arguments:
        given = kind if kind or not kind.of else model.index.resolve(kind.of, caller.module)
        if _is_collated(given) and any(
            target.parameter_at(place) in target.copies for target in _targets(call, caller, model)
        ):
            return True
    return False


def _targets(call: CallSite, caller: FunctionSummary, model: SemanticModel) -> list[FunctionSummary]:
    return model.index.callables(call.path, caller.module) if call.path else []


def _is_collated(kind: Type) -> bool:
    """Whether it is a batch of a loader in host memory that is not pinned."""
    return kind.tag in _TENSORS and kind.device is Device.HOST and kind.of == batches.COLLATED
