"""Attributes that hold a copy of another network: `self.q_t = copy.deepcopy(self.q)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

_SAME_OBJECT = models.having(Trait.RETURNS_SELF, TypeTag.MODULE)


def copies_in_attributes(model: SemanticModel) -> Iterator[tuple[str, str]]:
    """Yield the attributes of `self` in a file that hold a copy of the network in another attribute, with
    that attribute.
    """
    for call in model.names.calls_by_name.get("deepcopy", []):
        if model.names.qualified(call.func) != "copy.deepcopy" or len(call.args) != 1:
            continue
        given = call.args[0]
        if not isinstance(given, ast.Attribute) or not model.names.is_self(given.value):
            continue
        if model.types.type_of(given).tag is not TypeTag.MODULE:
            continue
        for target in model.names.targets(_whole(call, model)):
            if isinstance(target, ast.Attribute) and model.names.is_self(target.value):
                yield target.attr, given.attr


def _whole(call: ast.Call, model: SemanticModel) -> ast.Call:
    """Return a call with the methods after it that return the same network: `deepcopy(net).to(device)`."""
    around = model.parent(call)
    while isinstance(around, ast.Attribute) and around.attr in _SAME_OBJECT:
        above = model.parent(around)
        if not isinstance(above, ast.Call) or above.func is not around:
            break
        call, around = above, model.parent(above)
    return call
