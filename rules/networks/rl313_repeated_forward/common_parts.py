"""Methods of a network that run the same part of it on the same input: `net.act(x)`, then `net.value(x)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import takewhile

from rlint.rule import (
    BindingKind,
    ClassSummary,
    Function,
    FunctionSummary,
    SemanticModel,
    TypeTag,
    children,
    descendants,
    frozen,
)
from rlint.rules.networks._shared.same_input import have_same_blocks, likely_sees_the_same, sees_the_same
from rlint.rules.networks.rl313_repeated_forward.run_within import runs_by_input

_DEPTH = 2
"""Maximum number of methods of the network between a call and its part."""
_COPIES = 3
"""Maximum number of assignments that an input is followed through."""
_CONDITIONAL = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.IfExp, ast.Lambda, ast.comprehension)
_PARAMETER = re.compile(r"<(\w+)>")
_DENSE = frozenset({"torch.nn.Linear", "torch.nn.LazyLinear"})


@frozen
class CommonPart:
    """The part of a network that a call and an earlier one, `first`, both run, and the condition for them to
    return the same; `is_small` if it is one dense layer.
    """

    first: ast.Call
    part: str
    assumes: str
    is_small: bool


@frozen
class _Run:
    """A part of a network that a method runs unconditionally on `inputs`, with its parameters in angle
    brackets.
    """

    part: str
    inputs: tuple[str, ...]


def common_part(call: ast.Call, model: SemanticModel) -> CommonPart | None:
    """Return the part of a network that a call runs on the same input as an earlier call of another method
    of this network.
    """
    run = model.nn.network_run(call)
    if run is None:
        return None
    network, method = run
    if model.names.is_self(network):
        return None  # reported at the part itself, for two methods of one class (`run_in_methods`)
    others = runs_by_input(network, call, model)
    cls = model.types.class_of_value(network) if len(others) > 1 else None
    if cls is None:
        return None
    for other, name in others:
        if other is call or name == method or model.source.span(other) >= model.source.span(call):
            continue
        shared = _shared(cls, (other, name), (call, method), model)
        if not shared or not have_same_blocks(other, call, model):
            continue
        assumes = _deterministic(network, model)
        if assumes is None:
            return None
        if not sees_the_same(other, call, model):
            if not likely_sees_the_same(other, call, model):
                continue
            assumes = assumes or f"no code in between changes the weights of `{model.source.text(network)}`"
        kinds = [model.index.attribute(cls, part) for part in shared]
        large = [part for part, kind in zip(shared, kinds, strict=True) if kind.of not in _DENSE]
        return CommonPart(other, (large or shared)[0], assumes, is_small=not large)
    return None


def _deterministic(network: ast.expr, model: SemanticModel) -> str | None:
    """Return the condition for the parts of a network to return the same again, "" for none; None if they do
    not: dropout, or code that reads the mode.
    """
    structure = model.nn.architecture(network, None)
    if structure.by_mode or structure.hooks:
        return None
    if structure.complete:
        return ""
    return f"the layers of `{model.source.text(network)}` that are created elsewhere are deterministic"


def _shared(
    cls: ClassSummary, first: tuple[ast.Call, str], second: tuple[ast.Call, str], model: SemanticModel
) -> list[str]:
    """Return the parts that two calls of methods of a class run on the same input."""
    of_first, of_second = (_runs_of_call(cls, *each, model) for each in (first, second))
    return list(dict.fromkeys(run.part for run in of_second if run in of_first))


def _runs_of_call(cls: ClassSummary, call: ast.Call, method: str, model: SemanticModel) -> list[_Run]:
    """Return what a call runs, with its arguments in place of the parameters of the method."""
    function = model.index.method(cls, method)
    if not isinstance(function, FunctionSummary):
        return []
    given: dict[str, str] = {}
    for name, argument in zip(function.call_parameters, call.args):  # noqa: B905
        if isinstance(argument, ast.Starred):
            return []
        given[name] = model.source.text(argument)
    given.update({each.arg: model.source.text(each.value) for each in call.keywords if each.arg})
    return list(_with_arguments(_runs(cls, method, model, _DEPTH), given))


def _with_arguments(runs: list[_Run], given: dict[str, str]) -> Iterator[_Run]:
    """Yield the runs whose inputs are all given."""
    for run in runs:
        if all(name in given for text in run.inputs for name in _PARAMETER.findall(text)):
            texts = [_PARAMETER.sub(lambda found: given[found[1]], text) for text in run.inputs]
            yield _Run(run.part, tuple(texts))


def _runs(cls: ClassSummary, method: str, model: SemanticModel, depth: int) -> list[_Run]:
    """Return the parts that a method of a class runs unconditionally on values made of its parameters."""
    function = model.index.method(cls, method)
    if not isinstance(function, FunctionSummary) or not function.is_method or depth <= 0:
        return []
    if function.updates or model.nn.learns(function):
        return []
    node = model.types.definition(function)
    if node is None:
        return list(_runs_in_other_file(cls, function, model, depth))
    return list(_runs_here(cls, node, model, depth))


def _runs_here(cls: ClassSummary, function: Function, model: SemanticModel, depth: int) -> Iterator[_Run]:
    """Yield what a function of this file runs."""
    for call in descendants(function):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not call.args:
            continue
        if call.keywords or not model.names.is_self(call.func.value) or model.function(call) is not function:
            continue
        around = takewhile(lambda each: each is not function, model.ancestors(call))
        if any(isinstance(each, _CONDITIONAL) for each in around):
            continue
        inputs = [_written(argument, model, _COPIES) for argument in call.args]
        texts = tuple(text for text in inputs if text is not None)
        if len(texts) == len(inputs):
            yield from _run_of(cls, call.func.attr, texts, model, depth)


def _runs_in_other_file(
    cls: ClassSummary, function: FunctionSummary, model: SemanticModel, depth: int
) -> Iterator[_Run]:
    """Yield what a function of another file runs on its parameters themselves."""
    for site in function.calls:
        if site.receiver != "self" or site.guards or site.loop != -1 or not site.arguments:
            continue
        names, kinds = dict(site.names), dict(site.arguments)
        texts = []
        for place, (key, kind) in enumerate(kinds.items()):
            name = names.get(key)
            if key != str(place) or name not in function.call_parameters:
                break
            if name not in function.parameter_kinds and not kind.of.endswith(f"@{name}"):
                break
            texts.append(f"<{name}>")
        else:
            yield from _run_of(cls, site.method, tuple(texts), model, depth)


def _run_of(
    cls: ClassSummary, name: str, inputs: tuple[str, ...], model: SemanticModel, depth: int
) -> Iterator[_Run]:
    """Yield a part that is called, or what a method that is called runs."""
    called = model.index.method(cls, name)
    if called is not None:
        given = dict(zip(called.call_parameters, inputs))  # noqa: B905
        yield from _with_arguments(_runs(cls, name, model, depth - 1), given)
    elif model.index.attribute(cls, name).tag is TypeTag.MODULE:
        yield _Run(name, inputs)


def _written(value: ast.expr, model: SemanticModel, depth: int) -> str | None:
    """Return how a value is computed from parameters, attributes and constants; None if from other values."""
    if isinstance(value, ast.Name):
        if model.names.qualified(value) is not None:
            return value.id
        bindings = model.dataflow.definitions(value)
        if len(bindings) != 1 or depth <= 0:
            return None
        binding = bindings[0]
        if binding.kind is BindingKind.PARAMETER:
            return "self" if model.names.is_self(value) else f"<{value.id}>"
        if binding.kind is not BindingKind.ASSIGN or binding.path or binding.value is None:
            return None
        return _written(binding.value, model, depth - 1)
    if isinstance(value, ast.Call) and not model.effects.effect_of(value).quiet:
        return None
    parts = [part for part in children(value) if isinstance(part, ast.expr)]
    texts = [_written(part, model, depth) for part in parts]
    if None in texts:
        return None
    kind = type(value).__name__
    own = "" if parts else model.source.text(value)
    named = getattr(value, "attr", "") or type(getattr(value, "op", None)).__name__
    return f"{kind}.{named}.{own}({','.join(text for text in texts if text is not None)})"
