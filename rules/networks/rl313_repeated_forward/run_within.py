"""Methods of a network that call other methods of it on the same input: `forward` that calls `dist`."""

from __future__ import annotations

import ast

from rlint.rule import ClassSummary, Function, FunctionSummary, SemanticModel, descendants
from rlint.rules.networks._shared.same_input import architecture_of, is_forward, sees_the_same
from rlint.rules.networks.rl313_repeated_forward.run_on_branch import sees_the_same_on_branch

_DEPTH = 3
_Calls = dict[tuple[str, str], list[tuple[ast.Call, str]]]


def run_before_or_within(call: ast.Call, model: SemanticModel) -> tuple[ast.Call, ast.Call, ast.Call] | None:
    """Return an earlier call of the same network, if it and this one repeat a part of each other; then the
    call of the method that runs twice, and the call of the method that contains it.
    """
    run, function = model.nn.network_run(call), model.function(call)
    if run is None or function is None:
        return None
    network, method = run
    others = runs_by_input(network, call, model)
    cls = model.types.class_of_value(network) if len(others) > 1 else None
    if cls is None:
        return None
    for other, name in others:
        if other is call or name == method or model.source.span(other) > model.source.span(call):
            continue
        if runs(cls, name, method, other, call, model):
            inner, outer = call, other
        elif runs(cls, method, name, call, other, model):
            inner, outer = other, call
        else:
            continue
        around = architecture_of(outer, model)
        if (
            is_forward(inner, model)
            and around is not None
            and not (around.keeps or around.hooks)
            and (sees_the_same(other, call, model) or sees_the_same_on_branch(other, call, model))
        ):
            return other, inner, outer
    return None


def runs_by_input(network: ast.expr, call: ast.Call, model: SemanticModel) -> list[tuple[ast.Call, str]]:
    """Return the calls that run the same network on the same first argument as a call, in the same function,
    with their methods.
    """
    around = model.function(call) or model.syntax.module
    found: list[tuple[ast.Call, str]] = model.once(_runs_by_input, around).get(_key(network, call, model), [])
    return found


def _runs_by_input(around: Function | ast.Module, model: SemanticModel) -> _Calls:
    """Return the calls of networks in a function, or in a module outside of functions, by network and first
    argument, with their methods.
    """
    found: _Calls = {}
    function = around if not isinstance(around, ast.Module) else None
    for node in descendants(around):
        if not isinstance(node, ast.Call) or not node.args or model.function(node) is not function:
            continue
        if (run := model.nn.network_run(node)) is not None:
            found.setdefault(_key(run[0], node, model), []).append((node, run[1]))
    return found


def _key(network: ast.expr, call: ast.Call, model: SemanticModel) -> tuple[str, str]:
    return model.source.text(network), model.source.text(call.args[0]) if call.args else ""


def runs(
    cls: ClassSummary, outer: str, inner: str, around: ast.Call, within: ast.Call, model: SemanticModel
) -> bool:
    """Return whether a method of a class runs another one on the common arguments of the two calls."""
    places = _places_of(cls, outer, inner, model, _DEPTH)
    if places is None or within.keywords or any(isinstance(each, ast.Starred) for each in within.args):
        return False
    for place, argument in enumerate(within.args):
        source = places.get(place)
        if source is None or source >= len(around.args):
            return False
        if model.source.text(around.args[source]) != model.source.text(argument):
            return False
    return True


def _places_of(
    cls: ClassSummary, outer: str, inner: str, model: SemanticModel, depth: int
) -> dict[int, int] | None:
    """Return the positions of the parameters of `outer` in its calls of `inner`, direct or through other
    methods.
    """
    function = model.index.method(cls, outer)
    if not isinstance(function, FunctionSummary) or not function.is_method or depth <= 0:
        return None
    parameters = list(function.call_parameters)
    for site in function.calls:
        called = site.path.rpartition(".")[2]
        if model.index.method(cls, called) is None or site.receiver not in ("self", ""):
            continue
        kinds = dict(site.arguments)
        places = {
            int(place): parameters.index(name)
            for place, name in site.names
            if place.isdigit()
            and name in parameters
            and (name in function.parameter_kinds or kinds[place].of.endswith(f"@{name}"))
        }
        if not places or site.guards:
            continue
        if called == inner:
            return places
        further = _places_of(cls, called, inner, model, depth - 1)
        if further is not None:
            joined = {place: places[source] for place, source in further.items() if source in places}
            if joined:
                return joined
    return None
