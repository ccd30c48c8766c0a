"""State of a network that is read as a number: its buffers and parameters, which are on its device."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, descendants, element_types
from rlint.rules.transfers._shared.buffers import registered_in
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead

_WHOLE = element_types.WHOLE | {"bool"}
_TESTS = (ast.If, ast.While, ast.IfExp, ast.Assert)


def tested_state(read: HostRead, model: SemanticModel) -> ast.Attribute | None:
    """Return the buffer or parameter that a condition tests, if it depends on no other tensor: `self.count`
    in `if self.count >= self.until`, `self.norm.ready` in `if not self.norm.ready.item()`. Whole numbers
    count also where they are no conditions: `start = int(self.queue_start)`.
    """
    is_test = read.method == "if" or _is_in_test(read.node, model)
    if not is_test and read.method not in ("item", "int", "bool", "index"):
        return None
    names = [node for node in descendants(read.tensor) if isinstance(node, ast.Name)]
    if not all(model.names.is_self(name) or model.names.qualified(name) for name in names):
        return None
    found = (node for node in descendants(read.tensor) if isinstance(node, ast.Attribute))
    return next(
        (node for node in found if _is_registered(node, model) and (is_test or _is_whole(node, model))), None
    )


def _is_whole(attribute: ast.Attribute, model: SemanticModel) -> bool:
    """Whether a tensor holds integers or flags: a counter, the end of a queue."""
    return model.types.type_of(attribute).dtype in _WHOLE


def _is_in_test(node: ast.AST, model: SemanticModel) -> bool:
    for around in model.ancestors(node):
        if isinstance(around, _TESTS):
            return any(part is node for part in descendants(around.test))
        if isinstance(around, ast.stmt):
            return False
    return False


def _is_registered(attribute: ast.Attribute, model: SemanticModel) -> bool:
    cls: ast.ClassDef | None = None
    if model.names.is_self(attribute.value):
        cls = model.class_of(attribute)
    elif isinstance(attribute.value, ast.Attribute):
        cls = _class_of_value(attribute.value, model)
    return cls is not None and attribute.attr in model.once(registered_in, cls)


def _class_of_value(value: ast.expr, model: SemanticModel) -> ast.ClassDef | None:
    """Return the class of this file of which a value is an instance."""
    known = model.types.class_of_value(value)
    if known is None or known.module != model.module.module:
        return None
    classes = model.syntax.of_type(ast.ClassDef)
    return next((cls for cls in classes if model.syntax.qualname(cls) == known.qualname), None)
