"""Reads that no method shows: tensors that Python compares, counts with or uses as an index."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, TypeTag

_ORDERING = frozenset({"min", "max", "sorted"})
_TESTING = frozenset({"any", "all"})
_COUNTING = frozenset({"range"})
NAMES = _ORDERING | _TESTING | _COUNTING
"""Builtins that read tensors."""
_DEPTH = 3


def compared_by(call: ast.Call, model: SemanticModel) -> tuple[ast.expr, str] | None:
    """Return the argument that a builtin reads from a device, and how: "each" if it compares the elements
    (`min(distances)`), "bool" if it compares it with others (`min(self.count, limit)`), or "int".
    """
    func = call.func
    if not isinstance(func, ast.Name) or func.id not in NAMES or not call.args:
        return None
    if model.names.qualified(func) != f"builtins.{func.id}":
        return None
    if func.id in _COUNTING:
        return next(((each, "int") for each in call.args if is_number(each, model)), None)
    if len(call.args) > 1:
        return next(((each, "bool") for each in call.args if _is_tensor(each, model)), None)
    given = call.args[0]
    if call.keywords or not _is_tensor(given, model) or model.types.type_of(given).rank == 0:
        return None
    return given, "each"


def indexed_by(subscript: ast.Subscript, model: SemanticModel) -> ast.expr | None:
    """Return the index of an element or row, if it is a tensor without dimensions: `rows[self.place] = row`,
    `leaves[place + 1]`. PyTorch reads it to select the row, and Python to select an item.
    """
    index = subscript.slice
    if not isinstance(index, (ast.Name, ast.Attribute, ast.BinOp)):
        return None
    return index if is_number(index, model) else None


def is_number(value: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether a value is a tensor without dimensions, also one computed from such tensors and numbers."""
    kind = model.types.type_of(value)
    if kind.tag is not TypeTag.TENSOR or kind.rank is not None or depth <= 0:
        return kind.tag is TypeTag.TENSOR and kind.rank == 0
    match value:
        case ast.Name():
            made = model.dataflow.definitions(value)
            return bool(made) and all(
                each.kind is BindingKind.ASSIGN
                and not each.path
                and each.value is not None
                and is_number(each.value, model, depth - 1)
                for each in made
            )
        case ast.BinOp(left=left, right=right):
            sides = [side for side in (left, right) if _is_tensor(side, model)]
            return bool(sides) and all(is_number(side, model, depth - 1) for side in sides)
    return False


def _is_tensor(value: ast.expr, model: SemanticModel) -> bool:
    return model.types.type_of(value).tag is TypeTag.TENSOR
