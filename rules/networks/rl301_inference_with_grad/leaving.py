"""Forward passes whose result leaves the function with its gradient, which all receivers detach."""

from __future__ import annotations

import ast

from rlint.rule import Autograd, Function, SemanticModel, SinkKind, TypeTag, gradient_sinks
from rlint.rules.networks.rl301_inference_with_grad.frozen_networks import records_nothing
from rlint.rules.networks.rl301_inference_with_grad.stored_values import leaves_something

_LEAVES = frozenset({SinkKind.RETURNED, SinkKind.STORED, SinkKind.HANDED})


def is_cut_off_later(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs a network with autograd enabled, and all receivers of its result end the
    gradient.
    """
    if not (call.args or call.keywords) or not records(call, model) or _is_inner(call, model):
        return False
    here = {left.label for left in model.gradients.sinks(call)}
    if not here & _LEAVES or not here <= _LEAVES | gradient_sinks.ENDS:
        return False
    becomes = model.gradients.traced(call).labels
    if not becomes or not becomes <= gradient_sinks.ENDS or becomes == {SinkKind.SHOWN}:
        return False
    return not leaves_something(call, model)


def records(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call surely runs a network with autograd enabled."""
    if isinstance(call.func, ast.Call) or not model.gradients.gives_gradient(call):
        return False
    return model.gradients.autograd_at(call) is Autograd.ON and not records_nothing(call, model)


def _is_inner(call: ast.Call, model: SemanticModel) -> bool:
    """Whether another call is the better place for the finding: one of the network that contains this layer,
    or the forward passes in the function that is called here.
    """
    if _is_of_network(model.function(call), model) and not _runs_whole_network(call, model):
        return True
    if model.types.type_of(call.func).tag is TypeTag.MODULE:
        return False
    made = [model.types.definition(target) for target in model.types.call_targets(call)]
    return any(function is not None and not _is_of_network(function, model) for function in made)


def _runs_whole_network(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a method of a network that acts runs all of it: `self.forward(x)` in `act`."""
    function = model.function(call)
    if function is None or function.name in ("forward", "__call__"):
        return False
    match call.func:
        case ast.Attribute(value=owner, attr="forward") | owner:
            return model.names.is_self(owner)


def _is_of_network(function: Function | None, model: SemanticModel) -> bool:
    """Whether a function is a method of a network, whose layers are reported where the whole network runs."""
    owner = model.class_of(function) if function is not None else None
    if owner is None:
        return False
    summary = model.module.classes.get(model.syntax.qualname(owner))
    return summary is None or model.index.class_kind(summary).tag is TypeTag.MODULE
