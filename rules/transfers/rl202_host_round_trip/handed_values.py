"""Values that a function is handed by its callers, or as attributes of an object, and where they are kept."""

from __future__ import annotations

import ast

from rlint.rule import (
    BindingKind,
    SemanticModel,
    Trait,
    TypeTag,
    models,
)
from rlint.rules.transfers._shared.accelerators import names_device

_OF_TENSORS = models.methods_of(TypeTag.TENSOR) - models.having(Trait.RELOCATES, TypeTag.TENSOR)
_LOOPED = frozenset({BindingKind.FOR, BindingKind.COMPREHENSION})
_DEPTH = 6
_OF_HOST_DATA = models.having(Trait.FROM_DATA, "torch")


def handed(value: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> list[ast.expr] | None:
    """Return the parameters and attributes of `self` that a value is taken from: by indices, loops,
    arithmetic and methods of tensors. None if anything else takes part, such as a network.
    """
    match value:
        case ast.Constant():
            return []
        case ast.Name() if depth and not model.names.is_self(value):
            return _bound(value, model, depth - 1)
        case ast.Attribute(value=owner) if model.names.is_self(owner):
            return [value]
        case ast.Subscript(value=part) | ast.UnaryOp(operand=part) if depth:
            return handed(part, model, depth - 1)
        case ast.Call(func=ast.Attribute(value=part, attr=method)) if depth and method in _OF_TENSORS:
            return handed(part, model, depth - 1) if model.names.qualified(value.func) is None else None
        case ast.BinOp(left=left, right=right) if depth:
            return _all((left, right), model, depth - 1)
        case ast.Compare(left=left, comparators=compared) if depth:
            return _all((left, *compared), model, depth - 1)
    return None


def _all(parts: tuple[ast.expr, ...], model: SemanticModel, depth: int) -> list[ast.expr] | None:
    found = [handed(part, model, depth) for part in parts]
    return [each for some in found for each in some or ()] if None not in found else None


def _bound(name: ast.Name, model: SemanticModel, depth: int) -> list[ast.expr] | None:
    made = model.dataflow.definitions(name)
    if made and all(each.kind is BindingKind.PARAMETER for each in made):
        return [name]
    parts: list[ast.expr] = []
    for each in made:
        part = each.value
        if part is not None and each.kind in _LOOPED:
            part = _iterated(part, each.path, model)
        elif each.kind is not BindingKind.ASSIGN or each.path:
            part = None
        if part is None:
            return None
        parts.append(part)
    return _all((*parts,), model, depth) if parts else None


def _iterated(iterable: ast.expr, path: tuple[int | str, ...], model: SemanticModel) -> ast.expr | None:
    """Return what a loop takes its items from: `self.moves` of `for place, move in enumerate(self.moves)`."""
    match iterable:
        case ast.Call(func=called, args=[items, *_]) if model.names.qualified(
            called
        ) == "builtins.enumerate" and path == (1,):
            return items
        case ast.Name() | ast.Attribute() if not path:
            return iterable
    return None


def is_in_module(attribute: ast.expr, model: SemanticModel) -> bool:
    """Whether an attribute belongs to a network, whose tensors move to a device with it."""
    return isinstance(attribute, ast.Attribute) and model.types.type_of(attribute.value).tag is TypeTag.MODULE


def is_kept_on_host(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a handed value is evidently in host memory: all calls pass such tensors for the parameter that
    it is taken from, or the file creates tensors from data and names no device anywhere.
    """
    sources = handed(value, model)
    return bool(sources) and any(_is_on_host(source, model) for source in sources or ())


def _is_on_host(source: ast.expr, model: SemanticModel) -> bool:
    if isinstance(source, ast.Name):
        return model.effects.tensors_passed(source).on_host
    if is_in_module(source, model) or not isinstance(source, ast.Attribute):
        return False
    if model.once(_holds_host_data, model.syntax.module):
        return True
    stores = [use for use in model.names.attribute_uses(source.attr) if isinstance(use.ctx, ast.Store)]
    owner = model.class_of(source)
    values = [getattr(model.parent(use), "value", None) for use in stores if model.class_of(use) is owner]
    return bool(values) and all(
        isinstance(each, ast.Name) and model.effects.tensors_passed(each).on_host for each in values
    )


def _holds_host_data(_: ast.Module, model: SemanticModel) -> bool:
    """Whether a file creates tensors from data, and names no device: what its objects hold is data, which the
    code that learns moves to a device.
    """
    if names_device(model.syntax.text):
        return False
    return any(model.names.qualified(call.func) in _OF_HOST_DATA for call in model.syntax.of_type(ast.Call))
