"""Values that a network stores during a forward pass, for later reads."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import MODULE_METHODS, SemanticModel, TypeTag


def leaves_something(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the network stores a value during the forward pass that this file reads later."""
    if model.types.type_of(call.func).tag is not TypeTag.MODULE:
        return uses_stored_values_later(call, model)
    if _has_other_forwards(call.func, model) and uses_stored_values_later(call, model):
        return True
    structure = model.nn.architecture(call.func)
    if structure.keeps and uses_stored_values_later(call, model):
        return True
    if not structure.complete and uses_stored_values_later(call, model, of_unknown=True):
        return True
    return any(
        isinstance(use.ctx, ast.Load) and not (isinstance(use.value, ast.Name) and use.value.id == "self")
        for attribute in structure.keeps
        for use in model.names.attribute_uses(attribute)
    )


def _has_other_forwards(network: ast.expr, model: SemanticModel) -> bool:
    """Whether classes derived from that of a network override its `forward`, and may store other values."""
    cls = model.index.class_of(model.types.type_of(network))
    return cls is not None and any("forward" in each.methods for each in model.index.subclasses(cls))


def uses_stored_values_later(call: ast.Call, model: SemanticModel, *, of_unknown: bool = False) -> bool:
    """Whether another method of the network is called later, which may use values stored by the forward pass:
    `actor(observation)`, and then `actor.log_prob(action)`. With `of_unknown`, only methods whose code is not
    known count.
    """
    match call.func:
        case ast.Name(id=name):
            scope = model.names.scope(call).lookup(name)
            uses: Sequence[ast.expr] = model.names.reads(name, scope) if scope is not None else ()
        case ast.Attribute(attr=name):
            uses = model.names.attribute_uses(name)
        case _:
            return False
    network, function, after = ast.dump(call.func), model.function(call), model.source.span(call)[1]
    for use in uses:
        method = model.parent(use)
        if not isinstance(method, ast.Attribute) or method.attr in MODULE_METHODS:
            continue
        queried = model.parent(method)
        if not isinstance(queried, ast.Call) or model.source.span(method)[0] <= after:
            continue
        if of_unknown and model.types.call_targets(queried):
            continue
        if model.function(use) is function and ast.dump(use) == network:
            return True
    return False
