"""Networks that a program loads from a file, and calls with tensors: `policy = torch.load(path)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.models.vocabulary import UNPICKLES
from rlint.syntax.scopes import BindingKind

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis

_RETURN_IT = models.having(Trait.CASTS | Trait.RELOCATES, TypeTag.MODULE) | {"eval", "train"}
"""Methods of a network that return the network."""


def runs_loaded(call: ast.Call, analysis: FileAnalysis) -> bool:
    """Whether a call passes a tensor to a variable that only holds what a file was pickled from."""
    called = call.func
    if not isinstance(called, ast.Name) or not call.args:
        return False
    if analysis.types.type_of(call.args[0]).tag is not TypeTag.TENSOR:
        return False
    _, bindings = analysis.names.bindings(called)
    return bool(bindings) and all(
        binding.kind is BindingKind.ASSIGN
        and binding.value is not None
        and (_is_loaded(binding.value, analysis) or _is_itself(binding.value, called.id))
        for binding in bindings
    )


def _is_loaded(value: ast.expr, analysis: FileAnalysis) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _RETURN_IT:
            return _is_loaded(inner, analysis)
        case ast.Call(func=called):
            return analysis.names.qualified(called) in UNPICKLES
        case ast.Subscript(value=inner):
            return _is_loaded(inner, analysis)
    return False


def _is_itself(value: ast.expr, name: str) -> bool:
    """Whether a value is the variable's own network, moved: `policy = policy.to(device)`."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=method)):
            return owner == name and method in _RETURN_IT
    return False
