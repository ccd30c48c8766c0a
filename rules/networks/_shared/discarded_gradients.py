"""Networks that the loss of another one runs through, and the code that discards their gradients."""

from __future__ import annotations

import ast

from rlint.rule import Autograd, Driver, SemanticModel, TypeTag, descendants, frozen

_FREEZES = ("requires_grad", "requires_grad_")


@frozen
class Loss:
    """`loss.backward()` with the step that follows it: `optimizer` updates `networks`, and no others."""

    backward: ast.Call
    value: ast.expr
    optimizer: str
    networks: frozenset[str]


def loss_of(backward: ast.Call, model: SemanticModel) -> Loss | None:
    """Return the loss that is differentiated, if its optimizer is known with all of its networks."""
    match backward:
        case ast.Call(func=ast.Attribute(value=value, attr="backward"), args=[], keywords=keywords):
            pass
        case _:
            return None
    if any(keyword.arg in (None, "inputs") for keyword in keywords):
        return None
    function = model.function(backward)
    if any(model.function(use) is function for name in _FREEZES for use in model.names.attribute_uses(name)):
        return None  # weights are frozen here already
    for event in events(backward, model):
        if (
            event.method == "step"
            and model.function(event.call) is function
            and model.dataflow.order.position(event.call) > model.dataflow.order.position(backward)
        ):
            networks = model.nn.optimizers(backward).get(event.owner)
            return Loss(backward, value, event.owner, networks) if networks else None
    return None


@frozen
class Event:
    """`owner.step()` or `owner.zero_grad()`."""

    owner: str
    method: str
    call: ast.Call


def events(near: ast.AST, model: SemanticModel) -> list[Event]:
    """Return the gradient steps of optimizers, and the calls that zero gradients, in the class around a node
    (or outside of all classes), in source order.
    """
    return model.once(_events_in, model.class_of(near) or model.syntax.module)


def _events_in(around: ast.ClassDef | ast.Module, model: SemanticModel) -> list[Event]:
    cls = around if isinstance(around, ast.ClassDef) else None
    found = []
    for method in ("step", "zero_grad"):
        for use in model.names.attribute_uses(method):
            call = model.syntax.call_of(use)
            if call is None or model.class_of(call) is not cls:
                continue
            owner: ast.expr = use.value
            if method == "step":
                if model.analysis.loops.driver_of(call) is not Driver.GRADIENT_STEP:
                    continue
                if call.args and isinstance(call.args[0], (ast.Name, ast.Attribute)):
                    owner = call.args[0]  # `scaler.step(optimizer)`
            found.append(Event(model.source.text(owner), method, call))
    return sorted(found, key=lambda event: model.dataflow.order.position(event.call))


def passed_through(loss: Loss, model: SemanticModel) -> list[tuple[str, str]]:
    """Return the networks that the loss runs through, whose weights get gradients that are not used, each
    with the call that discards them.
    """
    found: dict[str, str] = {}
    for call in forwards_of(loss.value, model):
        network = network_of(call, model)
        if network is None or not model.gradients.gives_gradient(call):
            continue
        text = model.source.text(network)
        if text in found or is_among(text, loss.networks) or is_among_reversed(text, loss.networks):
            continue
        if (
            model.nn.is_frozen(network)
            or model.nn.runs_frozen(call)
            or model.gradients.autograd_at(call) is not Autograd.ON
        ):
            continue
        learner = learner_in(call, loss, model)
        if learner is None or any(model.nn.share_modules(text, other) for other in {learner, *loss.networks}):
            continue
        thrown = thrown_away_by(text, network, loss, model)
        if thrown is not None:
            found[text] = thrown
    return list(found.items())


def forwards_of(value: ast.expr, model: SemanticModel) -> list[ast.Call]:
    """Return the calls of networks from which a loss is computed, also in a method of this file that returns
    it.
    """
    found: list[ast.Call] = []
    for call in model.gradients.sources(value).calls:
        targets = model.types.call_targets(call)
        bodies = [model.types.definition(target) for target in targets]
        returned = [
            node.value
            for body in bodies
            if body is not None and network_of(call, model) is None
            for node in descendants(body)
            if isinstance(node, ast.Return) and node.value is not None and model.function(node) is body
        ]
        if returned:
            found += [inner for node in returned for inner in model.gradients.sources(node).calls]
        else:
            found.append(call)
    return sorted(dict.fromkeys(found), key=model.dataflow.order.position)


def network_of(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the network that a call runs, itself or by one of its methods."""
    for candidate in (call.func, getattr(call.func, "value", None)):
        if isinstance(candidate, (ast.Name, ast.Attribute, ast.Subscript)):
            if model.names.qualified(candidate) is not None:
                return None
            if model.types.type_of(candidate).tag is TypeTag.MODULE:
                return candidate
    return None


def learner_in(call: ast.Call, loss: Loss, model: SemanticModel) -> str | None:
    """Return the network that computes the input of a forward pass, and that the optimizer updates."""
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        for inner in model.gradients.sources(argument).calls:
            network = network_of(inner, model)
            if network is not None and is_among(model.source.text(network), loss.networks):
                return model.source.text(network)
    return None


def is_among(text: str, networks: frozenset[str]) -> bool:
    """Whether a network is one of several, or a part of one."""
    return any(text == other or text.startswith((f"{other}.", f"{other}[")) for other in networks)


def is_among_reversed(text: str, networks: frozenset[str]) -> bool:
    """Whether one of several networks is a part of it."""
    return any(other.startswith((f"{text}.", f"{text}[")) for other in networks)


def thrown_away_by(text: str, network: ast.expr, loss: Loss, model: SemanticModel) -> str | None:
    """Return the call that zeroes the gradients of a network before they are used."""
    if model.nn.is_optimized(network) is False:
        return ""
    own = [
        name
        for name, networks in model.nn.optimizers(loss.backward).items()
        if networks is not None and is_among(text, networks)
    ]
    if not own or model.nn.is_optimized(network) is None:
        return None
    around = [event for event in events(loss.backward, model) if event.owner in (*own, text)]
    here = [event for event in around if model.function(event.call) is model.function(loss.backward)]
    after = model.dataflow.order.position(loss.backward)
    next_ones = [event for event in here if model.dataflow.order.position(event.call) > after] or here
    if not next_ones:
        # the network is trained elsewhere: the calls there come next, in each of the places
        functions = dict.fromkeys(model.function(event.call) for event in around)
        next_ones = [
            next(event for event in around if model.function(event.call) is function)
            for function in functions
        ]
        if any(event.method != "zero_grad" for event in next_ones):
            return None
    if not next_ones or next_ones[0].method != "zero_grad":
        return None
    return f"`{next_ones[0].owner}.zero_grad()`"
