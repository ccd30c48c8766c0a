"""Attributes that a file sets on objects other than `self`: `config.network_fn = lambda: Network()`."""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint.models.value_type import INSTANCES, UNKNOWN, Type, TypeTag
from rlint.semantics.file_analysis import FileAnalysis

_MOST = 400
"""A file that sets more than this is generated code."""


def given_attributes(
    analysis: FileAnalysis, stored_kind: Callable[[ast.Attribute], Type | None]
) -> tuple[tuple[str, str, Type], ...]:
    """Return the access paths of objects, each with an attribute and the value that the file stores there.
    `stored_kind` returns the type assigned to a target (None: the type already inferred).
    """
    found: dict[tuple[str, str, Type], None] = {}
    for attribute in analysis.syntax.written.attribute_stores:
        if not isinstance(attribute.ctx, ast.Store):
            continue
        if isinstance(attribute.value, ast.Name) and analysis.names.class_of_self(attribute.value):
            continue
        owner = analysis.types.type_of(attribute.value)
        if not owner.of or (owner and owner.tag not in INSTANCES) or "{" in owner.of:
            continue
        stored = stored_kind(attribute)
        if stored is not None and stored.tag is not TypeTag.NONE:
            path = f"{owner.of}()" if owner else owner.of
            found[path, attribute.attr, stored if stored or stored.of else UNKNOWN] = None
    return tuple(found) if len(found) <= _MOST else ()
