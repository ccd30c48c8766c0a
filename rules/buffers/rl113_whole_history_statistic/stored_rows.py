"""Statistics of all rows of a replay buffer: `self.rewards[: self.size].std()`."""

from __future__ import annotations

import ast

from rlint.rule import FUNCTIONS, Heat, SemanticModel
from rlint.rules.buffers._shared.store_class import is_store_class
from rlint.rules.buffers._shared.store_size import counts_a_store


def all_rows_of_store(rows: ast.expr, at: ast.Call, model: SemanticModel) -> ast.Subscript | None:
    """Return the filled part of a buffer that a hot method reads as a whole; None if it is emptied."""
    match rows:
        case ast.Subscript(
            value=ast.Attribute() | ast.Subscript(value=ast.Attribute()) as store,
            slice=ast.Slice(lower=None, upper=ast.Attribute() as count, step=None),
        ):
            held = store.value if isinstance(store, ast.Subscript) else store
        case _:
            return None
    cls = model.class_of(at)
    if cls is None or not isinstance(held, ast.Attribute) or not model.names.is_self(held.value):
        return None
    if not is_store_class(cls, model) or not counts_a_store(count, model):
        return None
    if model.frequency.heat_of(at).level is not Heat.HOT or _is_reset(count, cls, model):
        return None
    return rows


def _is_reset(count: ast.Attribute, cls: ast.ClassDef, model: SemanticModel) -> bool:
    """Whether a method other than the constructor sets the number of rows to a literal, which empties the
    buffer, or nothing but the constructor sets it.
    """
    stores = [
        use
        for use in model.names.attribute_uses(count.attr)
        if isinstance(use.ctx, ast.Store)
        and model.class_of(use) is cls
        and isinstance(function := model.function(use), FUNCTIONS)
        and function.name != "__init__"
    ]
    values = [getattr(model.parent(use), "value", None) for use in stores]
    starts = [
        value
        for use, value in zip(stores, values, strict=True)
        if isinstance(value, ast.Constant) and isinstance(model.parent(use), ast.Assign)
    ]
    return not stores or bool(starts)
