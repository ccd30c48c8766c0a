"""Policies in the loss of a critic, whose gradients `zero_grad` discards before any optimizer reads them."""

from __future__ import annotations

import ast

from rlint.rule import Autograd, SemanticModel, SinkKind, frozen, gradient_sinks, parameter_of, weight_sync
from rlint.rules.networks._shared.discarded_gradients import (
    forwards_of,
    is_among,
    is_among_reversed,
    loss_of,
    network_of,
    thrown_away_by,
)

_LEAVES = frozenset({SinkKind.RETURNED, SinkKind.STORED})


@frozen
class ThrownAway:
    """A forward pass of `network`, whose gradients in `loss` the call `by` discards."""

    call: ast.Call
    network: str
    loss: ast.expr
    by: str


def thrown_away(backward: ast.Call, model: SemanticModel) -> list[ThrownAway]:
    """Return the forward passes that a loss runs through, of networks that it is not meant to train: those
    whose result is used for nothing else, and whose input needs no gradient.
    """
    loss = loss_of(backward, model)
    if loss is None:
        return []
    found = []
    for call in forwards_of(loss.value, model):
        network = network_of(call, model)
        if network is None or not model.gradients.gives_gradient(call):
            continue
        text = model.source.text(network)
        if is_among(text, loss.networks) or is_among_reversed(text, loss.networks):
            continue
        if weight_sync.called_follower(network, model) or not _is_only_for(call, backward, model):
            continue
        if model.gradients.autograd_at(call) is not Autograd.ON or model.nn.runs_frozen(call):
            continue
        if _carries_gradient(call, loss.value, model) or any(
            model.nn.share_modules(text, other) for other in loss.networks
        ):
            continue
        by = thrown_away_by(text, network, loss, model)
        if by:
            found.append(ThrownAway(call, text, loss.value, by))
    return found


def _is_only_for(call: ast.Call, backward: ast.Call, model: SemanticModel) -> bool:
    """Whether the gradient of a forward pass is only computed by one backward, as far as it leaves the
    function.
    """
    sinks = model.gradients.sinks(call)
    if any(left.label is SinkKind.LEARNED and left.node is not backward for left in sinks):
        return False
    labels = {left.label for left in sinks}
    if labels & _LEAVES:
        labels |= model.gradients.traced(call).labels
    return SinkKind.LEARNED in labels and labels <= {SinkKind.LEARNED, *_LEAVES, *gradient_sinks.ENDS}


def _carries_gradient(call: ast.Call, loss: ast.expr, model: SemanticModel) -> bool:
    """Whether an input of a forward pass is computed by a network, which the loss may be meant to train, also
    where the function around it is passed the input.
    """
    sources = [model.gradients.sources(argument) for argument in _given(call)]
    if any(_gives(source, model) for each in sources for source in each.calls):
        return True
    passed = {parameter.id for each in sources for parameter in each.parameters}
    if not passed or model.function(call) is model.function(loss):
        return False
    return any(
        parameter_of(argument, outer, target) in passed and _depends_on_network(argument, model)
        for outer in model.gradients.sources(loss).calls
        for target in model.types.call_targets(outer)
        if model.types.definition(target) is model.function(call)
        for argument in _given(outer)
    )


def _given(call: ast.Call) -> tuple[ast.expr, ...]:
    return (*call.args, *(keyword.value for keyword in call.keywords))


def _depends_on_network(value: ast.expr, model: SemanticModel) -> bool:
    return any(_gives(source, model) for source in model.gradients.sources(value).calls)


def _gives(call: ast.Call, model: SemanticModel) -> bool:
    return model.gradients.gives_gradient(call) and model.gradients.autograd_at(call) is not Autograd.OFF
