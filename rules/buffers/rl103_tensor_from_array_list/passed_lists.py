"""Lists of arrays that callers pass to a function which makes tensors of its parameter."""

from __future__ import annotations

import ast

from rlint.rule import CallEdge, SemanticModel, Type, TypeTag, frozen, observations
from rlint.rules.buffers._shared.passed_values import calls_passing

_LISTS = (TypeTag.LIST, TypeTag.TUPLE)


@frozen
class PassedList:
    """A call that passes a list of arrays: its file and line, and what is known of the arrays."""

    place: str
    items: Type

    @property
    def has_rows(self) -> bool:
        """Whether each array has several rows, so that even a list of one takes long to convert."""
        return self.items.rank is not None and self.items.rank > 1


def passed_list(data: ast.expr, model: SemanticModel) -> PassedList | None:
    """Return a call that passes a list of arrays for a parameter of unknown items: `def make(rows): return
    torch.tensor(rows)`, `make([board])`.
    """
    kind = model.types.type_of(data)
    if not isinstance(data, ast.Name) or kind.tag not in (TypeTag.UNKNOWN, *_LISTS) or kind.item:
        return None
    keys, calls = calls_passing(data, model)
    found = (_list_at(call, keys, model) for call in calls)
    return next((each for each in found if each is not None), None)


def _list_at(call: CallEdge, keys: tuple[str, str], model: SemanticModel) -> PassedList | None:
    """Return what a call passes, if its items are arrays, or named like observations."""
    for key, kind in call.site.arguments:
        if key not in keys or kind.tag not in _LISTS or kind.item is None:
            continue
        item = kind.item or model.index.resolve(kind.item.of, call.caller.module)
        name = kind.item.of.rpartition("@")[2].rpartition(".")[2]
        is_array = item.tag is TypeTag.NDARRAY and item.rank != 0
        if is_array or (not item and observations.names_one(name)):
            file = call.caller.module.rpartition(".")[2]
            return PassedList(f"`{file}.py:{call.site.line}`", item)
    return None
