"""Networks that two methods of an object run on the same input, called one after the other in another class
or function: `agent.evaluate(states, actions)`, then `agent.distribution(states)`.
"""

from __future__ import annotations

import ast

from rlint.rule import (
    Autograd,
    CallSite,
    Function,
    FunctionSummary,
    SemanticModel,
    TypeTag,
    descendants,
    frozen,
)
from rlint.rules.networks._shared.same_input import have_same_blocks, likely_unchanged_between

_DEPTH = 2
_MOST_CALLED = 24
_Run = tuple[str, tuple[str, ...], Autograd | None]
"""A network, as an attribute of the object, the parameters that are its input, and whether autograd is on."""


@frozen
class RunBefore:
    """An earlier call that has run `network` on the same input."""

    first: ast.Call
    network: str


def repeated_in_callees(call: ast.Call, model: SemanticModel) -> RunBefore | None:
    """Return an earlier call of a method of the same object that runs the same network on the same input."""
    function = model.function(call)
    if function is None or not isinstance(call.func, ast.Attribute) or model.names.is_self(call.func.value):
        return None
    calls = model.once(_calls_by_object, function).get(model.source.text(call.func.value), ())
    earlier = [each for each in calls if model.source.span(each) < model.source.span(call)]
    own = _runs_of(call, model) if earlier else {}
    for first in reversed(earlier if own else []):
        common = _common(own, _runs_of(first, model))
        if (
            common
            and have_same_blocks(first, call, model)
            and likely_unchanged_between(first, call, call, model)
        ):
            return RunBefore(first, min(network for network, *_ in common))
    return None


def _common(again: dict[str, frozenset[_Run]], first: dict[str, frozenset[_Run]]) -> frozenset[_Run]:
    """Return the networks that two methods of most classes of an object run on the same input."""
    both = [runs & first[cls] for cls, runs in again.items() if cls in first]
    repeated = [runs for runs in both if runs]
    if len(repeated) <= len(again) / 2:
        return frozenset()
    return repeated[0]


def _calls_by_object(function: Function, model: SemanticModel) -> dict[str, list[ast.Call]]:
    """Return the calls of methods of the project in a function, by the text of their object."""
    found: dict[str, list[ast.Call]] = {}
    for node in descendants(function):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        if isinstance(node.func.value, (ast.Name, ast.Attribute)) and model.types.call_targets(node):
            found.setdefault(model.source.text(node.func.value), []).append(node)
    return {text: calls for text, calls in found.items() if len(calls) > 1}


def _runs_of(call: ast.Call, model: SemanticModel) -> dict[str, frozenset[_Run]]:
    """Return the networks that a call runs in any case, with the texts of their inputs, by the class of the
    method; without abstract methods.
    """
    targets = model.types.call_targets(call)
    if len(targets) > 1:
        targets = [each for each in targets if each.returns_values]
    if not 0 < len(targets) <= _MOST_CALLED:
        return {}
    found: dict[str, frozenset[_Run]] = {}
    for target in targets:
        given = _given(call, target, model)
        found[target.path.rpartition(".")[0]] = frozenset(
            (network, tuple(given[name] for name in inputs), autograd)
            for network, inputs, autograd in _runs_in(target, model, _DEPTH)
            if all(name in given for name in inputs)
        )
    return found


def _given(call: ast.Call, target: FunctionSummary, model: SemanticModel) -> dict[str, str]:
    """Return the texts of the arguments that are variables or attributes, by parameter."""
    named = [(str(place), value) for place, value in enumerate(call.args)]
    named += [(each.arg, each.value) for each in call.keywords if each.arg is not None]
    return {
        target.parameter_at(key): model.source.text(value)
        for key, value in named
        if isinstance(value, (ast.Name, ast.Attribute))
    }


def _runs_in(function: FunctionSummary, model: SemanticModel, depth: int) -> set[_Run]:
    """Return the networks, attributes of `self`, that a method runs on its parameters in any case."""
    owner = model.index.owner_of(function)
    found: set[_Run] = set()
    if owner is None or function.updates or model.nn.learns(function):
        return found
    for site in function.calls:
        inputs = _inputs(site, function)
        if site.receiver != "self" or site.guards or site.loop != -1 or not inputs:
            continue
        if model.index.attribute(owner, site.method).tag is TypeTag.MODULE:
            found.add((site.method, tuple(inputs.values()), site.autograd))
            continue
        method = model.index.method(owner, site.method) if depth > 1 else None
        if isinstance(method, FunctionSummary) and method is not function:
            passed = {method.parameter_at(key): name for key, name in inputs.items()}
            found |= {
                (network, tuple(passed[name] for name in names), autograd)
                for network, names, autograd in _runs_in(method, model, depth - 1)
                if all(name in passed for name in names)
            }
    return found


def _inputs(site: CallSite, function: FunctionSummary) -> dict[str, str]:
    """Return the parameters that a call receives, by position or keyword; empty if it receives others."""
    names = {key: name for key, name in site.names if name in function.call_parameters}
    return names if len(names) == len(site.arguments) else {}
