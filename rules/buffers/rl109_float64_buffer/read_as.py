"""How a storage is used: written row by row, read as float32, or in other ways."""

from __future__ import annotations

import ast

from rlint.rule import FUNCTIONS, SemanticModel, Trait, descendants, element_types, legacy_tensors, models

_TYPED = models.having(Trait.FROM_DATA, "torch", "numpy")
_KEEPS = frozenset({"torch.from_numpy", "torch.tensor", "torch.as_tensor"})
_MEASURES = models.FORM_ATTRIBUTES
_WANTED = ("float32", element_types.DEFAULT)


def is_row_written(use: ast.expr, model: SemanticModel) -> bool:
    """`storage[i] = row`."""
    match model.parent(use):
        case ast.Subscript(value=owner, ctx=ast.Store()) as part if owner is use:
            return not isinstance(model.parent(part), ast.AugAssign)
    return False


def is_counted_up(use: ast.expr, model: SemanticModel) -> bool:
    """`storage[i] += 1`, and what else computes in the storage."""
    part = model.parent(use)
    return isinstance(part, ast.AugAssign) or (
        isinstance(part, ast.Subscript) and isinstance(model.parent(part), ast.AugAssign)
    )


def read_as(use: ast.expr, model: SemanticModel) -> str | None:
    """The data type that the storage, or rows of it, get as soon as they are read; "" where they are read and
    nobody knows as what; None where they are not read.
    """
    if not isinstance(getattr(use, "ctx", None), ast.Load):
        return None
    match model.parent(use):
        case ast.Subscript(value=owner, ctx=context) as part if owner is use:
            return (_becomes(part, model) or "") if isinstance(context, ast.Load) else None
        case ast.Attribute(attr=attribute) if attribute in _MEASURES:
            return None
        case ast.Call(func=func) if model.names.qualified(func) == "builtins.len":
            return None
    return _becomes(use, model) or ""


def _becomes(value: ast.expr, model: SemanticModel, *, followed: bool = False) -> str:
    node: ast.expr = value
    for parent in model.ancestors(value):
        match parent:
            case ast.Call(func=func) if node in parent.args:
                found = _made(parent, model)
                if found:
                    return found
                if model.names.qualified(func) not in _KEEPS:
                    return ""
            case ast.Attribute():
                pass
            case ast.Call(func=ast.Attribute() as func) if func is node:
                found = _cast(parent, func.attr, model)
                if found:
                    return found
            case ast.keyword() | ast.Dict() | ast.Tuple():
                return _of_collection(parent, model)
            case ast.Assign(targets=[ast.Name(id=name)]) if not followed:
                scope = model.names.scope(value).lookup(name)
                reads = model.names.reads(name, scope) if scope is not None else []
                every = {_becomes(read, model, followed=True) for read in reads}
                return every.pop() if len(every) == 1 else ""
            case _:
                return ""
        node = parent
    return ""


def _made(call: ast.Call, model: SemanticModel) -> str:
    maker = model.names.qualified(call.func) or ""
    if maker in legacy_tensors.CLASSES:
        return legacy_tensors.class_dtype(maker)
    if maker not in _TYPED:
        return ""
    named = [keyword.value for keyword in call.keywords if keyword.arg == "dtype"]
    named += call.args[1:2] if maker.startswith("numpy.") else []
    return model.analysis.types.dtype_of(named[0]) if named else ""


def _cast(call: ast.Call, method: str, model: SemanticModel) -> str:
    if method in element_types.CASTS and not call.args:
        return element_types.CASTS[method]
    if method in ("to", "astype", "type"):
        named = [keyword.value for keyword in call.keywords if keyword.arg == "dtype"]
        for argument in (*named, *call.args):
            found = model.analysis.types.dtype_of(argument)
            if found:
                return found
    return ""


def _of_collection(node: ast.AST, model: SemanticModel) -> str:
    """The type that a comprehension of the same function gives to all parts of the dict or tuple."""
    around = next((parent for parent in model.ancestors(node) if isinstance(parent, FUNCTIONS)), None)
    if around is None or not _is_dict(node, model):
        return ""
    found = set()
    for inner in descendants(around):
        match inner:
            case ast.DictComp(value=ast.Call() as made) | ast.ListComp(elt=ast.Call() as made):
                found.add(_made(made, model))
    return found.pop() if len(found) == 1 else ""


def _is_dict(node: ast.AST, model: SemanticModel) -> bool:
    if isinstance(node, ast.keyword):
        call = model.parent(node)
        return isinstance(call, ast.Call) and model.names.qualified(call.func) == "builtins.dict"
    return isinstance(node, (ast.Dict, ast.Tuple))


def is_float32(dtype: str | None) -> bool:
    """Is it float32, or torch's default type, which mostly is?"""
    return dtype in _WANTED
