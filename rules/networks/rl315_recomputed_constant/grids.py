"""Grids, tables of offsets and square masks, whose size an input or a parameter determines."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, last_name, models

_GRIDS = models.names_having(Trait.FROM_NUMBERS, "torch", "numpy") - {"arange", "range"}
_FILLED = frozenset({"ones", "full"})
_TRIANGLES = frozenset({"triu", "tril"})


def is_grid(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call begins a grid, a table of offsets, or a square mask. Its size is that of an image, of
    features or of a batch, which rarely changes.
    """
    if model.frequency.loops(call):
        return False
    name = last_name(call.func)
    return name in _GRIDS or (name in _FILLED and _is_cut_to_triangle(call, model))


def _is_cut_to_triangle(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a filled tensor becomes a triangular mask: `torch.tril(torch.ones(n, n))`."""
    match model.parent(call):
        case ast.Call(func=func, args=[first, *_]) if first is call:
            return last_name(func) in _TRIANGLES
        case ast.Attribute(attr=method):
            return method in _TRIANGLES
    return False
