"""Functions of the project that only run a network for their result: `self.greedy_action(state)`."""

from __future__ import annotations

import ast

from rlint.rule import EffectKind, FunctionSummary, SemanticModel, TypeTag, regex, vocabulary

_DEPTH = 3
_MOST = 3
"""Maximum number of functions that a call within these functions may run."""
_MOST_METHODS = 24
"""Maximum number of methods, of classes with a common base, that a call may run."""
_CHANGES = (
    EffectKind.MUTATES
    | EffectKind.CONSUMES
    | EffectKind.FILE_IO
    | EffectKind.NETWORK
    | EffectKind.COMMUNICATES
    | EffectKind.ACCUMULATES_GRADIENTS
    | EffectKind.RENDERS
)
_NOT_BY_NAME = regex(
    r"(^|_)(step|reset|learn\w*|train\w*|updat\w*|optimi\w*|fit|collect\w*|rollout|run|play|save|load|backward|"
    r"loss\w*)(_|$)"
)
_MODES = frozenset({"train", "eval"})


def runs_network(call: ast.Call, model: SemanticModel) -> bool:
    """Whether all functions of the project that a call may run only compute their result, judging by their
    effects as far as they are known, and run a network for it.
    """
    call = called_by_lambda(call, model) or call
    targets = model.types.call_targets(call)
    if len(targets) > 1:  # without abstract methods
        targets = [each for each in targets if each.returns_values]
    if not 0 < len(targets) <= _MOST_METHODS or _NOT_BY_NAME.search(targets[0].name):
        return False
    if vocabulary.STORES & set(targets[0].name.split("_")) or any(each.is_property for each in targets):
        return False
    running = [each for each in targets if _runs_network(each, model, _DEPTH)]
    if len(running) <= len(targets) / 2:
        return False
    effect = model.effects.call_effect(call)
    return not effect.kind & _CHANGES and all(_only_computes(each, model) for each in running)


def called_by_lambda(call: ast.Call, model: SemanticModel) -> ast.Call | None:
    """Return the call that is the body of the lambda which a call of a local variable runs."""
    bindings = model.dataflow.definitions(call.func) if isinstance(call.func, ast.Name) else []
    match [binding.value for binding in bindings]:
        case [ast.Lambda(body=ast.Call() as body)]:
            return body
    return None


def _only_computes(function: FunctionSummary, model: SemanticModel) -> bool:
    """Whether a function sets no attribute, learns nothing and steps no environment."""
    drivers = (function.drivers, *(loop.drivers for loop in function.loops))
    return (
        function.returns_values
        and not (function.sets or function.updates or function.keeps_gradient)
        and not any(drivers)
        and not model.nn.learns(function)
    )


def _runs_network(function: FunctionSummary, model: SemanticModel, depth: int) -> bool:
    for site in function.calls:
        if not site.path or site.method in _MODES:
            continue
        if model.index.resolve(site.path, function.module).tag is TypeTag.MODULE:
            return True
        is_on_object = "()" in site.path and site.method == "forward"
        if is_on_object and not model.index.callables(site.path, function.module):
            return True
        if depth > 1 and site.path.count(".") <= 8:
            called = model.index.callables(site.path, function.module)
            if 0 < len(called) <= _MOST and all(
                each is not function and _runs_network(each, model, depth - 1) for each in called
            ):
                return True
    return False
