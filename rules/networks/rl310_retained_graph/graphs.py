"""The graph of a loss (for RL310): whether it is new in each iteration, and whether this backward is its last
use.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.rule import (
    Binding,
    BindingKind,
    SemanticModel,
    SinkKind,
    TypeTag,
    children,
    gradient_sinks,
    last_name,
    numbers,
    regex,
)
from rlint.rules.networks.rl310_retained_graph.separate_graphs import gives_data, have_separate_graphs

_MOST = 200  # maximum number of names followed for one loss
# names for transitions, loss weights and settings: nothing computed with a gradient
_DATA = regex(
    r"^(next_|new_|old_|b_|mb_|batch_)*(states?|obs|observations?|actions?|acts?|rewards?|rews?|dones?|terminals?"
    r"|masks?|not_dones?|(mini)?batch(es)?|loader|dataset|data|inputs?|x|y|targets?|labels?|returns?|discounts?|gamma|s|a|r|d|samples?"
    r"|transitions?|experiences?|indices|idxs?)(_batch|_b|_t|_next|_prime)*$"
)


def is_last_use(backward: ast.Call, loss: ast.expr, model: SemanticModel) -> bool:
    """Whether the graph of the loss surely is created in the same iteration, and not needed after this
    backward.
    """
    sources = model.gradients.sources(loss)
    if not sources.calls or any(not numbers.is_number(kept, model) for kept in sources.kept):
        return False  # an attribute may be part of an older graph
    if not all(_DATA.search(parameter.id.lower()) for parameter in sources.parameters):
        return False
    if _has_other_backward({parameter.id for parameter in sources.parameters}, backward, model):
        return False  # `batch` may contain an encoder's output, for all losses
    loops = model.frequency.loops(backward)
    made = 0
    for call in sources.calls:
        inside = all(loop in model.frequency.loops(call) for loop in loops)
        if not model.gradients.gives_gradient(call):
            if not inside and not gives_data(call, model):
                return False
            if gives_data(call, model):
                continue
        elif not inside:
            return False
        if _keeps_state(call, model) or not _ends_here(call, backward, model):
            return False
        made += 1
    return made > 0 and not _is_carried(loss, backward, model)


def _has_other_backward(parameters: set[str], backward: ast.Call, model: SemanticModel) -> bool:
    """Whether the function also calls backward on another loss that depends on the same parameters."""
    if not parameters:
        return False
    for call in model.names.calls_named("backward", model.function(backward)):
        if call is not backward and isinstance(call.func, ast.Attribute):
            sources = model.gradients.sources(call.func.value)
            if parameters & {parameter.id for parameter in sources.parameters}:
                return True
    return False


def _keeps_state(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the called network may store state for the next call."""
    if model.types.type_of(call.func).tag is not TypeTag.MODULE:
        return False
    return bool(model.nn.architecture(call.func).keeps)


def _ends_here(call: ast.Call, backward: ast.Call, model: SemanticModel) -> bool:
    """Whether the gradient of a value ends in the backward, or before it."""
    going_on = [
        left
        for left in model.gradients.sinks(call)
        if left.label not in (*gradient_sinks.ENDS, SinkKind.ARRAY)
    ]
    if any(left.label is not SinkKind.LEARNED for left in going_on):
        return False
    return all(
        left.node is backward
        or have_separate_graphs(backward, left.node, model)
        or (
            model.frequency.loops(left.node) == model.frequency.loops(backward)
            and model.dataflow.between(left.node, backward) is not None
        )
        for left in going_on
    )


def _is_carried(loss: ast.expr, backward: ast.Call, model: SemanticModel) -> bool:
    """Whether the loss depends on values of an earlier iteration."""
    loops = model.frequency.loops(backward)
    seen: set[Binding] = set()
    pending = list(_names(loss))
    while pending:
        name = pending.pop()
        for binding in model.dataflow.definitions(name):
            value = binding.value
            if value is None:
                continue
            if binding.kind in (BindingKind.ASSIGN, BindingKind.AUGMENT, BindingKind.WALRUS) and _comes_later(
                binding, name, loops, model
            ):
                return True
            if binding.kind is BindingKind.AUGMENT and not _is_reset(binding, loops, model):
                return True
            if binding not in seen:
                seen.add(binding)
                pending.extend(_names(value))
            if len(seen) > _MOST:
                return True
    return False


def _comes_later(binding: Binding, name: ast.Name, loops: Sequence[ast.AST], model: SemanticModel) -> bool:
    """Whether a name has its value from a later line of the loop, in an earlier iteration."""
    statement = binding.statement
    return any(loop in model.ancestors(statement) for loop in loops) and (
        model.syntax.positions.span(statement)[1] >= model.syntax.positions.span(name)[1]
    )


def _is_reset(binding: Binding, loops: Sequence[ast.AST], model: SemanticModel) -> bool:
    """Whether the sum is reset in each iteration."""
    node = binding.node
    bindings = model.names.bindings(node) if isinstance(node, ast.Name) else []
    return any(
        other.kind is BindingKind.ASSIGN and all(loop in model.ancestors(other.statement) for loop in loops)
        for other in bindings
    )


def _names(expression: ast.AST) -> Iterator[ast.Name]:
    """Yield the names whose values an expression uses, without detached ones."""
    if isinstance(expression, ast.Name):
        yield expression
        return
    if isinstance(expression, ast.Call) and last_name(expression.func) in (
        "detach",
        "item",
        "tolist",
        "numpy",
    ):
        return
    for child in children(expression):
        yield from _names(child)
