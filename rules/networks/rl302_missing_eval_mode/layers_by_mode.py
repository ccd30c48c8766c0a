"""Calls that run networks with layers whose result depends on the mode."""

from __future__ import annotations

import ast

from rlint.rule import AnyLoop, SemanticModel, TypeTag, descendants

_DROPS = "drops units at random"


def is_network(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is a network."""
    return model.types.type_of(value).tag is TypeTag.MODULE


def by_mode(call: ast.Call, network: ast.expr, model: SemanticModel) -> str | None:
    """Return what a layer that surely is in the network does in training mode."""
    return next(iter(_all_by_mode(call, network, model)), None)


def only_drops(call: ast.Call, network: ast.expr, model: SemanticModel) -> bool:
    """Whether all layers that depend on the mode are dropout."""
    return all(layer.endswith(_DROPS) for layer in _all_by_mode(call, network, model))


def _all_by_mode(call: ast.Call, network: ast.expr, model: SemanticModel) -> list[str]:
    method = "forward" if network is call.func else getattr(call.func, "attr", "forward")
    structure = model.nn.architecture(network, method)
    if structure.overrides:
        return []
    return [what for name, sure in structure.layers.items() if sure and (what := described(name))]


def networks_in(outer: AnyLoop, model: SemanticModel) -> list[ast.Name | ast.Attribute]:
    """Return the networks with such layers that a loop runs, each at its first call."""
    found: dict[str, ast.Name | ast.Attribute] = {}
    calls = [node for node in descendants(outer) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=model.source.span):
        network = network_of(call, model)
        if network is not None and by_mode(call, network, model) is not None:
            found.setdefault(model.source.text(network), network)
    return list(found.values())


def described(layer: str) -> str | None:
    """Return what a layer does in training mode; None for layers that do not depend on the mode."""
    name = layer.rpartition(".")[2]
    if "BatchNorm" in name:
        return f"`{name}` normalises with batch statistics and updates its running statistics"
    return f"`{name}` {_DROPS}" if "Dropout" in name else None


def network_of(call: ast.Call, model: SemanticModel) -> ast.Name | ast.Attribute | None:
    """Return the network that a call runs: `net` for `net(x)` and for `net.get_value(x)`."""
    match call.func:
        case ast.Name() | ast.Attribute() as func if is_network(func, model):
            return func
        case ast.Attribute(value=ast.Name() | ast.Attribute() as owner) if model.types.type_of(
            owner
        ).tag is TypeTag.MODULE and model.types.call_targets(call):
            return owner
    return None
