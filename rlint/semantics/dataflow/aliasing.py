"""Which variables may share the memory of a tensor or an array: `base` that of `row = base.view(-1)`."""

from __future__ import annotations

import ast

from rlint.models.value_type import TypeTag
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.types.algebra import is_immutable
from rlint.syntax.walk import descendants

_MEMORY = (TypeTag.TENSOR, TypeTag.NDARRAY)


def lenders(name: ast.Name, analysis: FileAnalysis) -> frozenset[str]:
    """The tensors and arrays that the value of a variable may be a view of, by their names."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for binding in analysis.names.bindings(waiting.pop())[1]:
            if binding.value is None:
                continue
            kind = analysis.types.binding_kind(binding)
            if kind.fresh or is_immutable(kind):
                continue
            for part in descendants(binding.value):
                known = isinstance(part, ast.Name) and part.id in (name.id, *found)
                if known or not isinstance(part, ast.Name):
                    continue
                if analysis.types.type_of(part).tag in _MEMORY:
                    found.add(part.id)
                    waiting.append(part)
    return frozenset(found)
