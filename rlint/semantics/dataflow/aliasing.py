"""Variables that may share a value: `xs` with `ys = xs`, or `base` whose memory `row = base.view(-1)`
shares.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.models.value_type import TypeTag
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.types.algebra import is_immutable
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.walk import descendants

MEMORY = frozenset({TypeTag.TENSOR, TypeTag.NDARRAY})
"""Types whose items are in memory that a view may share."""
_BINDS_WHOLE = frozenset({BindingKind.ASSIGN, BindingKind.WALRUS})


def lenders(name: ast.Name, analysis: FileAnalysis) -> frozenset[str]:
    """Return the variables that a value may alias, and the tensors and arrays that it may be a view of."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for binding in analysis.names.bindings(waiting.pop())[1]:
            if binding.value is None:
                continue
            if not binding.path and binding.kind in _BINDS_WHOLE:
                for given in _given(binding.value):
                    if given.id not in (name.id, *found):
                        found.add(given.id)
                        waiting.append(given)
            kind = analysis.types.binding_kind(binding)
            if is_immutable(kind) or _is_new_memory(binding, analysis):
                continue
            for part in descendants(binding.value):
                known = isinstance(part, ast.Name) and part.id in (name.id, *found)
                if known or not isinstance(part, ast.Name):
                    continue
                if analysis.types.type_of(part).tag in MEMORY:
                    found.add(part.id)
                    waiting.append(part)
    return frozenset(found)


def _is_new_memory(binding: Binding, analysis: FileAnalysis) -> bool:
    """Whether a variable is bound to a newly allocated tensor or array, which is not a view of another."""
    if binding.value is None or binding.path or binding.kind not in _BINDS_WHOLE:
        return False
    kind = analysis.types.type_of(binding.value)
    return kind.fresh and kind.tag in MEMORY


def _given(value: ast.expr) -> Iterator[ast.Name]:
    """Yield the variables whose object an expression may evaluate to: `xs`, `xs if test else ys`, `xs or
    []`.
    """
    match value:
        case ast.Name():
            yield value
        case ast.IfExp(body=body, orelse=orelse):
            yield from _given(body)
            yield from _given(orelse)
        case ast.BoolOp(values=values):
            for each in values:
                yield from _given(each)
        case ast.NamedExpr(target=target, value=inner):
            yield target
            yield from _given(inner)
