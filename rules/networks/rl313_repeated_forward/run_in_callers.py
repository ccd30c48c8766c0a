"""Networks that run in each call of a method, on an argument that the loop around the calls leaves alone."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, Function, SemanticModel, descendants
from rlint.rules.networks._shared.same_input import (
    Watched,
    is_forward,
    is_unoptimized_target,
    nodes_run,
)

_MOST = 4
"""Maximum number of calls of one function that are examined."""


def loop_of_callers(call: ast.Call, model: SemanticModel) -> ast.Call | None:
    """Return the first call of the function around a forward pass, if each of its calls in this file is in a
    loop, and none of these loops changes the input or the weights of the network.
    """
    function = model.function(call)
    if function is None or model.frequency.loops(call) or _is_trained(call, model):
        return None
    parameters = _parameters(call, model)
    if not parameters or not is_forward(call, model):
        return None
    sites = model.once(_calls_of, function)
    if not sites or len(sites) > _MOST:
        return None
    watched = Watched(call, model)
    if any(watched.changed_by(node) for statement in function.body for node in nodes_run(statement)):
        return None
    return sites[0] if all(_repeats(site, call, parameters, model) for site in sites) else None


def _is_trained(call: ast.Call, model: SemanticModel) -> bool:
    """Whether an optimizer may update the network: all but target networks."""
    run = model.nn.network_run(call)
    return run is None or not is_unoptimized_target(run[0], model)


def _parameters(call: ast.Call, model: SemanticModel) -> list[str]:
    """Return the parameters of the function that are the input of the network; empty if its input may be
    another value.
    """
    found: list[str] = []
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        for node in descendants(argument):
            if not isinstance(node, ast.Name) or model.names.qualified(node) is not None:
                continue
            bindings = model.dataflow.definitions(node)
            if not bindings or any(each.kind is not BindingKind.PARAMETER for each in bindings):
                return []
            found.append(node.id)
    return [name for name in found if name != "self"]


def _calls_of(function: Function, model: SemanticModel) -> list[ast.Call]:
    """Return the calls of a method in this file; empty if it is also used in another way."""
    if model.class_of(function) is None or not function.args.args:
        return []
    uses = model.names.attribute_uses(function.name)
    calls = [
        parent
        for use in uses
        if isinstance(parent := model.parent(use), ast.Call)
        and parent.func is use
        and model.names.is_self(use.value)
    ]
    return calls if len(calls) == len(uses) else []


def _repeats(site: ast.Call, call: ast.Call, parameters: list[str], model: SemanticModel) -> bool:
    """Whether a call is in a loop that passes the same input, and leaves the weights alone."""
    loops = model.frequency.loops(site)
    function = model.function(call)
    loop = loops[0] if loops else None
    if function is None or not isinstance(loop, ast.For):
        return False
    names = [argument.arg for argument in function.args.args[1:]]
    given = {names[place]: value for place, value in enumerate(site.args) if place < len(names)}
    given.update({keyword.arg: keyword.value for keyword in site.keywords if keyword.arg})
    values = [given.get(name) for name in parameters]
    if any(not isinstance(value, (ast.Name, ast.Attribute)) for value in values):
        return False
    watched = Watched(call, model)
    watched.names = set()
    for value in values:
        of_value = Watched(value, model) if value is not None else watched
        watched.names |= of_value.names
        watched.attributes |= of_value.attributes
    return not any(watched.changed_by(node) for node in nodes_run(loop) if node is not site)
