"""Losses that are kept (for RL318): where, and whether a gradient was computed from them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    MAX_DEFINITIONS,
    Autograd,
    Binding,
    BindingKind,
    Function,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    models,
    vocabulary,
    weight_sync,
)
from rlint.rules.networks._shared.backward_calls import backwards_in
from rlint.rules.networks.rl318_graph_kept_by_log.kept_forms import Kept, adds_to
from rlint.rules.networks.rl318_graph_kept_by_log.returned_losses import (
    is_learned_in_other_file,
    returned_values,
)

_NEW = (ast.Dict, ast.List, ast.DictComp, ast.ListComp)
_DETACHES = models.having(Trait.TO_HOST | Trait.GIVES_INDEX, TypeTag.TENSOR) | {"detach"}
_DEPTH = 60
_LOOPS = 2
LOSSES = frozenset(
    """loss losses criterion criteria error errors err nll mse kl kld entropy objective cost bce ce
    surrogate regret""".split()
)


def begins_in_loop(keeper: ast.Name, node: ast.AST, model: SemanticModel) -> bool:
    """Whether the container is created in each iteration of the innermost loop around the node."""
    loop = model.frequency.loops(node)[0]
    scope = model.names.scope(keeper).lookup(keeper.id)
    bindings = scope.bindings[keeper.id] if scope is not None else []
    if len(bindings) > MAX_DEFINITIONS:
        return True
    made = [
        binding
        for binding in bindings
        if binding.kind is BindingKind.ASSIGN and binding.statement is not node and not adds_to(binding)
    ]
    return any(loop in model.ancestors(binding.statement) for binding in made) or not made


def is_item_of_short_lived(kept: Kept, model: SemanticModel) -> bool:
    """Whether the container is an item of a dict or list that the function creates for each iteration, or for
    this one value.
    """
    root = kept.keeper
    while isinstance(root, ast.Subscript):
        root = root.value
    if not isinstance(root, ast.Name) or root is kept.keeper:
        return False
    definitions = model.dataflow.definitions(root)
    if not definitions or any(binding.kind is not BindingKind.ASSIGN for binding in definitions):
        return False  # a parameter may live longer
    if model.names.scope(root).lookup(root.id) is not model.names.scope(root).function:
        return False
    if any(not isinstance(binding.value, _NEW) for binding in definitions):
        return False
    return not model.frequency.loops(kept.node) or begins_in_loop(root, kept.node, model)


def has_backward(value: ast.expr, model: SemanticModel) -> bool | None:
    """Whether `backward` is called on the value, or on a value computed from it, in the same function or in
    the function of this file that returned the value. None if a graph is kept there on purpose, for another
    gradient.
    """
    learned = _has_backward_here(value, model)
    if learned is not False:
        return learned
    for results in returned_values(value, model):
        answers = [_is_result_learned(result, model) for result in results]
        if None in answers:
            return None
        learned = learned or all(answers)
    return learned or is_learned_in_other_file(value, model)


def _is_result_learned(result: ast.expr, model: SemanticModel) -> bool | None:
    """Return the same for a returned value, or for an item of a returned dict that carries its graph."""
    items = result.values if isinstance(result, ast.Dict) else [result]
    answers = [_has_backward_here(item, model) for item in items if model.gradients.sources(item).calls]
    return None if None in answers else any(answers)


def _has_backward_here(value: ast.expr, model: SemanticModel) -> bool | None:
    function = model.function(value)
    bindings = _origins(value, model)
    learned = False
    for backward in backwards_in(function, model):
        call = backward.call
        kept = set(backward.arguments) & vocabulary.KEEP_GRAPH
        if kept and (kept != {"retain_graph"} or not _is_step_after(call, function, model)):
            return None
        directly: set[Binding] = set()
        handed: set[Binding] = set()
        for part in (call.func, *call.args):
            arguments = {node for made in descendants(part) for node in _given_to(made)}
            for name in descendants(part):
                if isinstance(name, ast.Name):
                    (handed if name in arguments else directly).update(model.dataflow.definitions(name))
        if bindings & directly:
            learned = True
        elif bindings & (handed | set(_made_of(directly | handed, model))):
            learned = learned or surely_attached(value, model, has_backward=True)
    return learned or any(_is_learned_by_callee(binding, value, model) for binding in bindings)


def _origins(value: ast.expr, model: SemanticModel) -> set[Binding]:
    """Return the variables from which a value is computed in its own expression, with those that a loop
    iterates over: `loss` for `term` in `for term in (loss, entropy)`.
    """
    found: set[Binding] = set()
    pending = [node for node in descendants(value) if isinstance(node, ast.Name)]
    for _ in range(_LOOPS):
        bindings = {binding for name in pending for binding in model.dataflow.definitions(name)}
        found.update(filter(_is_made, bindings))
        iterated = [
            binding.value
            for binding in bindings
            if binding.kind in (BindingKind.FOR, BindingKind.COMPREHENSION) and binding.value is not None
        ]
        pending = [node for each in iterated for node in descendants(each) if isinstance(node, ast.Name)]
    return found


def _is_step_after(backward: ast.Call, function: Function | None, model: SemanticModel) -> bool:
    """Whether an optimizer takes a step after a backward: no later backward can use the retained graph, as
    the weights have changed in place.
    """
    after = model.source.span(backward)[1]
    return any(
        isinstance(call.func, ast.Attribute)
        and model.source.span(call)[0] > after
        and any(_is_optimizer(each, model) for each in (call.func.value, *call.args))
        for call in model.names.calls_named("step", function)
    )


def _is_optimizer(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is an optimizer, also one of unknown type that is named so."""
    tag = model.types.type_of(value).tag
    return tag is TypeTag.OPTIMIZER or (
        tag is TypeTag.UNKNOWN and any(word.startswith("opt") for word in weight_sync.words_of(value, model))
    )


def _is_learned_by_callee(binding: Binding, value: ast.expr, model: SemanticModel) -> bool:
    """Whether the value is passed to a function that calls `backward` on it: `self.net.train_step(loss)`."""
    if not isinstance(value, ast.Name) or binding.name != value.id:
        return False
    scope = model.names.scope(value).lookup(value.id)
    for read in model.names.reads(value.id, scope) if scope is not None else ():
        around = model.parent(read)
        call = model.parent(around) if isinstance(around, ast.keyword) else around
        if (
            isinstance(call, ast.Call)
            and call.func is not read
            and binding in model.dataflow.definitions(read)
            and model.gradients.is_learned_by(call, read)
        ):
            return True
    return False


def _given_to(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all names in the arguments of a call: possibly a reward that a loss is computed from."""
    if isinstance(node, ast.Call):
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            yield from descendants(argument)


def _is_made(binding: Binding) -> bool:
    return (
        binding.kind in (BindingKind.ASSIGN, BindingKind.WALRUS, BindingKind.AUGMENT)
        and binding.value is not None
    )


def _with_gradient(value: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a value through which a gradient flows, without detached ones and those read as a
    number.
    """
    match value:
        case ast.Call(func=ast.Attribute(attr=method)) if method in _DETACHES:
            return
        case ast.Attribute(attr="data"):
            return
    yield value
    for part in ast.iter_child_nodes(value):
        yield from _with_gradient(part)


def _made_of(bindings: set[Binding], model: SemanticModel) -> Iterator[Binding]:
    """Yield the bindings from which the values of other bindings are computed."""
    pending, seen = list(bindings), set(bindings)
    while pending and len(seen) < _DEPTH:
        value = pending.pop().value
        for name in _with_gradient(value) if value is not None else ():
            if isinstance(name, ast.Name):
                for binding in model.dataflow.definitions(name):
                    if binding not in seen:
                        seen.add(binding)
                        pending.append(binding)
                        yield binding


def surely_attached(value: ast.expr, model: SemanticModel, *, has_backward: bool = False) -> bool:
    """Whether the value surely was computed by a network with autograd on. Callers do not disable autograd
    for a function that calls `backward`.
    """
    calls = model.gradients.sources(value).calls
    # the result of an unknown call need not depend on its arguments
    opaque = [
        call for call in calls if not model.gradients.gives_gradient(call) and not _is_loss(call, model)
    ]
    if opaque:
        calls = model.gradients.sources(value, without=opaque).calls
    enabled = (Autograd.ON, Autograd.UNKNOWN) if has_backward else (Autograd.ON,)
    return any(
        model.gradients.gives_gradient(call)
        and model.gradients.autograd_at(call) in enabled
        and not model.nn.runs_frozen(call)
        for call in calls
    )


def _is_loss(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call computes a loss: a module without weights, or one with such a name."""
    if model.types.type_of(call.func).tag is TypeTag.MODULE:
        return True
    return bool(weight_sync.words_of(call.func, model) & LOSSES)


def is_called_loss(kept: Kept, model: SemanticModel) -> bool:
    """Whether the name of the stored value, or of its container, says that it is a loss."""
    return bool((weight_sync.words_of(kept.value, model) | weight_sync.words_of(kept.keeper, model)) & LOSSES)
