"""Networks that run on a growing sequence, and what shows that they do so without a cache."""

from __future__ import annotations

import ast

from rlint.rule import (
    AnyLoop,
    SemanticModel,
    descendants,
    last_name,
    parameter_of,
    regex,
    vocabulary,
)
from rlint.rules.networks._shared.last_positions import is_causal_model, reads_last_position
from rlint.rules.networks.rl328_uncached_decoding.chosen_items import is_logits, path_to
from rlint.rules.networks.rl328_uncached_decoding.growing_inputs import (
    grown_by,
    growths_in,
    inputs_of,
    whole_sequences,
)

_CACHE = regex(r"(^|_)(past|kvs?|key_values)(_|$)|cache(s|d)?(_|$)")
_NO_CACHE = frozenset({"use_cache", "empty_cache", "lru_cache"})
_TOKENIZER = regex(r"^tok(en(izer?)?)?$|tokeni[sz]e")
_STEP = "step"
_DEPTH = 2


def extended_by_result(call: ast.Call, loop: AnyLoop, model: SemanticModel) -> ast.Call | None:
    """Return the call of a network that a call is, or runs in a function, if it gets all items of a sequence
    to which the loop adds items that are chosen from the last position of its result.
    """
    grown = model.once(growths_in, loop)
    for argument, value in inputs_of(call):
        for sequence in whole_sequences(value, loop, model):
            growth = grown_by(sequence, grown)
            if growth is None or (growth.by_place and not _is_cut(sequence, model)):
                continue
            run = _run_on(call, argument, model, _DEPTH)
            if run is None:
                return None
            for added in growth.added:
                path = path_to(added, call, loop, model)
                if (
                    path.is_reached
                    and path.is_chosen
                    and (path.is_last or _is_of_sequences(run, call, model))
                ):
                    return run
    return None


def _is_cut(sequence: ast.expr, model: SemanticModel) -> bool:
    """Whether code only reads the first items of an allocated sequence: `ids[:, :t]`."""
    match model.parent(sequence):
        case ast.Subscript(slice=ast.Tuple(elts=axes)):
            return any(isinstance(axis, ast.Slice) and axis.upper is not None for axis in axes)
    return False


def _run_on(call: ast.Call, argument: ast.AST, model: SemanticModel, depth: int) -> ast.Call | None:
    """Return the call of a network, also of an unknown one, that gets an argument of a call: the call itself,
    or one in the function that it runs.
    """
    run = model.nn.network_run(call)
    if run is not None:
        return call if run[1] not in vocabulary.GENERATES and _may_be_causal(run[0], model) else None
    targets = model.types.call_targets(call)
    if not targets:
        is_known = bool(model.types.type_of(call.func)) or _TOKENIZER.search(last_name(call.func) or "")
        return None if is_known else call
    for target in targets if depth else ():
        definition, parameter = model.types.definition(target), parameter_of(argument, call, target)
        for inner in descendants(definition) if definition is not None and parameter is not None else ():
            if not isinstance(inner, ast.Call):
                continue
            for given, value in inputs_of(inner):
                if any(
                    isinstance(each, ast.Name) and each.id == parameter
                    for each in whole_sequences(value, None, model)
                ):
                    found = _run_on(inner, given, model, depth - 1)
                    if found is not None and model.names.qualified(found.func) is None:
                        return found
    return None


def network_of(run: ast.Call, model: SemanticModel) -> ast.expr:
    """Return the network that a call runs."""
    known = model.nn.network_run(run)
    return known[0] if known is not None and known[1] == "forward" else run.func


def _may_be_causal(network: ast.expr, model: SemanticModel) -> bool:
    """Whether a network may process each position of a sequence: it has attention, a recurrent layer or an
    embedding, or layers that are not known.
    """
    built = model.nn.architecture(network)
    return not (built.complete and built.weights) or _has_positions(network, model)


def _has_positions(network: ast.expr, model: SemanticModel) -> bool:
    built = model.nn.architecture(network)
    return built.attention or built.recurrent or any("Embedding" in name for name in built.layers)


def _is_of_sequences(run: ast.Call, call: ast.Call, model: SemanticModel) -> bool:
    """Whether a network surely runs over sequences, or the function that runs it reads the last position."""
    known = model.nn.network_run(run)
    if known is not None and (is_causal_model(known[0], model) or _has_positions(known[0], model)):
        return True
    function = model.function(run)
    if run is call or function is None:
        return False
    return any(
        (isinstance(node, ast.Subscript) and reads_last_position(node)) or is_logits(node)
        for node in descendants(function)
    )


def is_cached(run: ast.Call, call: ast.Call, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether the code around a network that runs in a loop handles a cache, or the network keeps one."""
    inside = model.function(run)
    parts = [model.function(call) or loop, *([inside] if inside is not None and run is not call else [])]
    if any(_names_cache(node) for part in parts for node in descendants(part)):
        return True
    known = model.nn.network_run(run)
    return known is not None and bool(model.nn.architecture(known[0]).keeps)


def _names_cache(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)) | ast.arg(arg=name):
            return name not in _NO_CACHE and _CACHE.search(name) is not None
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return _CACHE.search(name) is not None
    return False


def steps_environment(loop: AnyLoop) -> bool:
    """Whether a loop takes steps of an environment, so that each item of the sequence is an observation."""
    return any(
        isinstance(node, ast.Call) and last_name(node.func) == _STEP and node.args
        for node in descendants(loop)
    )
