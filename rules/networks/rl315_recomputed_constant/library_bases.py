"""Attributes that only the base class of a library can set."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel
from rlint.rules.networks.rl315_recomputed_constant.passed_constants import varies


def is_set_by_library_base(node: ast.Attribute, model: SemanticModel) -> bool:
    """Whether it is an attribute of `self` that this program neither defines nor sets: the constructor of a
    base class of a library does, as far as is known.
    """
    cls = model.class_of(node)
    if cls is None or not model.names.is_self(node.value) or varies(node.attr):
        return False
    summary = model.module.classes.get(model.syntax.qualname(cls))
    if summary is None or model.index.setters(node.attr):
        return False
    family = model.index.ancestry(summary)
    own = [each for each in family if not isinstance(each, str)]
    return len(own) < len(family) and not any(
        node.attr in each.attributes or node.attr in each.methods for each in own
    )
