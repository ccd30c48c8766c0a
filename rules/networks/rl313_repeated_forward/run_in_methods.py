"""Networks that two methods of a class run on the same input, where a third one calls both: the losses of one
batch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product, takewhile

from rlint.rule import (
    FUNCTIONS,
    Autograd,
    BindingKind,
    CallSite,
    Function,
    SemanticModel,
    Trait,
    descendants,
    frozen,
    models,
)
from rlint.rules.networks._shared.same_input import likely_unchanged_between, seems_repeatable
from rlint.rules.networks.rl313_repeated_forward.calls_in_bases import calls_in_bases

_DEPTH = 3
_MOST_RUNS = 40
"""Maximum number of forward passes that are compared in one method."""
_COPIES = 4
"""Maximum number of assignments that an input is followed through."""
_CONDITIONAL = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.IfExp, ast.Lambda, ast.comprehension)
_PLAIN = (BindingKind.PARAMETER, BindingKind.ASSIGN)
_CONVERTS = models.having(Trait.FROM_DATA | Trait.LEGACY, "torch")
_Inputs = tuple[str, ...]


@frozen
class RepeatedRun:
    """A forward pass that repeats `first` where `function` calls both."""

    first: ast.Call
    function: str


@frozen
class _Run:
    """A forward pass of a `network` on `inputs`, that the call `place` runs; inputs begin with the name of a
    parameter of the function around `place` in angle brackets, or are attributes of `self`.
    """

    place: ast.Call
    forward: ast.Call
    network: str
    inputs: _Inputs


def repeated_in_methods(call: ast.Call, model: SemanticModel) -> RepeatedRun | None:
    """Return the earlier forward pass that a call repeats in another method of its class."""
    cls = model.class_of(call)
    return model.once(_repeats, cls).get(call) if cls is not None else None


def _repeats(cls: ast.ClassDef, model: SemanticModel) -> dict[ast.Call, RepeatedRun]:
    methods = {
        node.name: node
        for each in reversed(_family(cls, model))
        for node in each.body
        if isinstance(node, FUNCTIONS)
    }
    found: dict[ast.Call, RepeatedRun] = {}
    if not any(map(model.nn.network_run, (n for n in descendants(cls) if isinstance(n, ast.Call)))):
        return found
    known: dict[tuple[str, int], list[_Run]] = {}
    for name, function in methods.items():
        runs = _runs_in(function, methods, known, model, _DEPTH)
        if len(runs) > _MOST_RUNS or all(run.place is run.forward for run in runs):
            continue
        for place, run in enumerate(runs):
            for earlier in runs[:place]:
                other = found.get(earlier.forward)
                if other is not None and other.first is run.forward:
                    continue  # another method calls the two in the other order
                if run.forward not in found and _repeats_run(earlier, run, model):
                    found[run.forward] = RepeatedRun(earlier.forward, name)
    for caller, first, second in calls_in_bases(cls, model):
        given = [_runs_at(site, methods, known, model) for site in (first, second)]
        for earlier, run in product(*given):
            same = (earlier.network, earlier.inputs) == (run.network, run.inputs)
            if same and run.forward not in found and _may_reuse(earlier, run, model):
                found[run.forward] = RepeatedRun(earlier.forward, caller.name)
    return found


def _runs_at(
    site: CallSite,
    methods: dict[str, Function],
    known: dict[tuple[str, int], list[_Run]],
    model: SemanticModel,
) -> list[_Run]:
    """Return what a call in another file runs, with the names of its arguments as inputs."""
    helper = methods.get(site.method)
    if helper is None or model.class_of(helper) is None:
        return []
    parameters = [each.arg for each in (*helper.args.posonlyargs, *helper.args.args)][1:]
    given: dict[str, str] = {}
    for place, name in site.names:
        parameter = parameters[int(place)] if place.isdigit() and int(place) < len(parameters) else place
        given[parameter] = f"{name} of the caller"
    found: list[_Run] = []
    for run in _runs_in(helper, methods, known, model, _DEPTH):
        inside = takewhile(lambda each: each is not helper, model.ancestors(run.place))
        inputs = [_replaced(text, given) for text in run.inputs]
        if not any(isinstance(each, _CONDITIONAL) for each in inside) and None not in inputs:
            texts = tuple(text for text in inputs if text is not None)
            found.append(_Run(run.place, run.forward, run.network, texts))
    return found


def _may_reuse(first: _Run, again: _Run, model: SemanticModel) -> bool:
    """Whether the result of a forward pass may be used in place of a later one: it has a graph if the later
    one has, and the network is deterministic.
    """
    if first.forward is again.forward or not any("of the caller" in text for text in again.inputs):
        return False
    off = model.gradients.autograd_at(again.forward) is Autograd.OFF
    if not off and model.gradients.autograd_at(first.forward) is Autograd.OFF:
        return False
    return bool(seems_repeatable(again.forward, model))


def _family(cls: ast.ClassDef, model: SemanticModel) -> list[ast.ClassDef]:
    """Return a class and its bases in the file."""
    found, pending = [cls], [cls]
    classes = {each.name: each for each in model.syntax.module.body if isinstance(each, ast.ClassDef)}
    while pending:
        for base in pending.pop().bases:
            owner = classes.get(base.id) if isinstance(base, ast.Name) else None
            if owner is not None and owner not in found:
                found.append(owner)
                pending.append(owner)
    return found


def _repeats_run(first: _Run, again: _Run, model: SemanticModel) -> bool:
    """Whether a forward pass likely repeats another one, of which at least one is in a called method."""
    if first.forward is again.forward or first.place is again.place:
        return False
    if (first.network, first.inputs) != (again.network, again.inputs):
        return False
    if first.place is first.forward and again.place is again.forward:
        return False  # in one function: compared elsewhere
    if not model.dataflow.order.always_before(first.place, again.place):
        return False
    off = model.gradients.autograd_at(again.forward) is Autograd.OFF
    if not off and model.gradients.autograd_at(first.forward) is Autograd.OFF:
        return False  # the first result has no graph
    if any(_is_updated(run, model) for run in (first, again)) or not seems_repeatable(again.forward, model):
        return False
    return bool(likely_unchanged_between(first.place, again.place, again.forward, model))


def _is_updated(run: _Run, model: SemanticModel) -> bool:
    """Whether the method that is called takes gradient steps."""
    if run.place is run.forward:
        return False
    return any(each.updates or model.nn.learns(each) for each in model.types.call_targets(run.place))


def _runs_in(
    function: Function,
    methods: dict[str, Function],
    known: dict[tuple[str, int], list[_Run]],
    model: SemanticModel,
    depth: int,
) -> list[_Run]:
    """Return the forward passes that a method runs, itself or by other methods, in the order of the text."""
    if (function.name, depth) in known:
        return known[function.name, depth]
    found: list[_Run] = []
    known[function.name, depth] = found
    calls = [node for node in descendants(function) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=model.source.span):
        if model.function(call) is not function or len(found) > _MOST_RUNS:
            continue
        if isinstance(call.func, ast.Attribute) and model.names.is_self(call.func.value):
            runs_itself = call.func.attr == "forward" and model.nn.network_run(call) is not None
            helper = methods.get(call.func.attr) if not runs_itself else None
            if helper is not None and helper is not function:
                if depth > 1:
                    inner = _runs_in(helper, methods, known, model, depth - 1)
                    found += _passed(call, helper, inner, model)
                continue
        run = model.nn.network_run(call) if call.args or call.keywords else None
        inputs = _inputs(call, model) if run is not None else None
        if run is not None and inputs is not None:
            network = f"{model.source.text(run[0])}.{run[1]}"
            if network.startswith("self."):
                found.append(_Run(call, call, network, inputs))
    return found


def _passed(call: ast.Call, helper: Function, runs: list[_Run], model: SemanticModel) -> Iterator[_Run]:
    """Yield what a method runs unconditionally, with the arguments of a call of it."""
    given = _given(call, helper, model)
    if given is None:
        return
    for run in runs:
        inside = takewhile(lambda each: each is not helper, model.ancestors(run.place))
        if any(isinstance(each, _CONDITIONAL) for each in inside):
            continue
        inputs = tuple(_replaced(text, given) for text in run.inputs)
        if all(text is not None for text in inputs):
            yield _Run(call, run.forward, run.network, tuple(text for text in inputs if text is not None))


def _replaced(text: str, given: dict[str, str]) -> str | None:
    """Return an input with the argument in place of its parameter; None if the call does not pass it."""
    if not text.startswith("<"):
        return text
    name, _, rest = text[1:].partition(">")
    return given[name] + rest if name in given else None


def _given(call: ast.Call, helper: Function, model: SemanticModel) -> dict[str, str] | None:
    """Return the arguments of a call by the parameters of a method."""
    parameters = [each.arg for each in (*helper.args.posonlyargs, *helper.args.args)][1:]
    found: dict[str, str] = {}
    for place, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred):
            whole = _key(argument.value, model, _COPIES)
            if whole is None or place != len(call.args) - 1:
                return None
            for index, name in enumerate(parameters[place:]):
                found[name] = f"{whole}[{index}]"
        elif place < len(parameters) and (key := _key(argument, model, _COPIES)) is not None:
            found[parameters[place]] = key
    for keyword in call.keywords:
        key = _key(keyword.value, model, _COPIES)
        if keyword.arg is not None and key is not None:
            found[keyword.arg] = key
    return found


def _inputs(call: ast.Call, model: SemanticModel) -> _Inputs | None:
    """Return the inputs of a forward pass; None if one is computed in the function."""
    found: list[str] = []
    for argument in call.args:
        key = _key(argument, model, _COPIES)
        if key is None:
            return None
        found.append(key)
    for keyword in sorted(call.keywords, key=lambda each: each.arg or ""):
        key = _key(keyword.value, model, _COPIES)
        if key is None or keyword.arg is None:
            return None
        found.append(key)
    return tuple(found)


def _key(value: ast.expr, model: SemanticModel, depth: int) -> str | None:
    """Return what an input reads: `<batch>.state`, `<batch>[0]` for `states` after `states, actions = batch`.
    A local variable of another value stands for itself, by its place.
    """
    match value:
        case ast.Constant():
            return repr(value.value)
        case ast.Attribute(value=owner, attr=name):
            inner = "self" if model.names.is_self(owner) else _key(owner, model, depth)
            return f"{inner}.{name}" if inner is not None else None
        case ast.Subscript(value=owner, slice=ast.Constant(value=index)):
            inner = _key(owner, model, depth)
            return f"{inner}[{index!r}]" if inner is not None else None
        case ast.Name():
            return _of_variable(value, model, depth)
        case ast.Call():
            return _of_conversion(value, model, depth)
    return None


def _of_conversion(call: ast.Call, model: SemanticModel, depth: int) -> str | None:
    """Return what a conversion of an attribute reads: `torch.tensor(self.states)`."""
    converts = model.names.qualified(call.func)
    if converts not in _CONVERTS or any(keyword.arg is None for keyword in call.keywords):
        return None
    given = [_key(each, model, depth) for each in call.args]
    named = [f"{each.arg}={ast.unparse(each.value)}" for each in call.keywords]
    texts = [each for each in given if each is not None and each.startswith("self.")]
    return f"{converts}({', '.join([*texts, *named])})" if len(texts) == len(given) > 0 else None


def _of_variable(name: ast.Name, model: SemanticModel, depth: int) -> str | None:
    bindings = model.dataflow.definitions(name)
    if not bindings or depth <= 0 or any(each.kind not in _PLAIN for each in bindings):
        return None
    binding = bindings[0]
    if len(bindings) == 1 and binding.kind is BindingKind.PARAMETER:
        return f"<{name.id}>"
    whole = _key(binding.value, model, depth - 1) if binding.value is not None else None
    if len(bindings) > 1 or whole is None:
        places = sorted(model.source.span(each.node)[0] for each in bindings)
        return f"{name.id}@{','.join(map(str, places))}"
    return whole + "".join(f"[{index}]" for index in binding.path)
