"""Attributes that a call creates: `self.register_buffer("mean", torch.zeros(n))`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint import models
from rlint.models.element_types import WHOLE
from rlint.models.trait import Trait
from rlint.models.value_type import Type, TypeTag
from rlint.semantics.file_analysis import FileAnalysis

_REGISTERS = models.having(Trait.ADDS_PART, TypeTag.MODULE)


def registered_attributes(analysis: FileAnalysis) -> Iterator[tuple[ast.ClassDef, str, Type]]:
    """Yield the attributes that methods create on `self` by name, with their class and type. The device of a
    tensor is not known: it is moved with its module, which may change its floating-point type, too.
    """
    for call in analysis.syntax.written.calls_of(_REGISTERS):
        match call:
            case ast.Call(
                func=ast.Attribute(value=ast.Name() as owner),
                args=[ast.Constant(value=str(name)), value, *_],
            ):
                cls = analysis.names.class_of_self(owner)
            case _:
                continue
        kind = analysis.types.type_of(value).aged()
        if kind.tag is TypeTag.TENSOR:
            kind = Type(TypeTag.TENSOR, dtype=kind.dtype if kind.dtype in WHOLE else "", rank=kind.rank)
        if cls is not None and name.isidentifier():
            yield cls, name, kind
