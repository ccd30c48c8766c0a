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
    defaults_of,
    gradient_sinks,
    last_name,
    numbers,
    regex,
)
from rlint.rules.networks._shared.backward_calls import Backward, backwards_in
from rlint.rules.networks.rl310_retained_graph.handed_losses import (
    losses_handed,
    passed_for,
)
from rlint.rules.networks.rl310_retained_graph.kept_data import holder_of, holds_data
from rlint.rules.networks.rl310_retained_graph.retain_flags import RetainFlag
from rlint.rules.networks.rl310_retained_graph.separate_graphs import gives_data, have_separate_graphs

_PLAIN = frozenset(
    {TypeTag.INT, TypeTag.FLOAT, TypeTag.BOOL, TypeTag.STR, TypeTag.DEVICE, TypeTag.MODULE, TypeTag.NDARRAY}
)
_MOST = 200  # maximum number of names followed for one loss
# names for results of networks
_GRAPHS = regex(
    r"loss|logits?|log_?p|logps?$|value|(^|_)(q|v|qs?|vs?)(_|$)|feat|latent|embed|hidden|carry|advantage|(^|_)adv|pred|dist|entropy|policy|out(put)?s?$"
    r"|^(hx|cx|h|c|z|mu|std|mean|memory|states?_?dict)$"
)
# names for transitions, loss weights and settings: nothing computed with a gradient
_DATA = regex(
    r"^(next_|new_|old_|b_|mb_|batch_)*(states?|obs|observations?|actions?|acts?|rewards?|rews?|dones?|terminals?"
    r"|masks?|not_dones?|(mini)?batch(es)?|loader|dataset|data|inputs?|x|y|targets?|labels?|returns?|discounts?|gamma|s|a|r|d|samples?"
    r"|transitions?|experiences?|indices|idxs?)(_batch|_b|_t|_next|_prime)*$"
)
# names for sizes, counts and coefficients
_SETTINGS = regex(
    r"(^|_)(size|num|len|length|steps?|epochs?|iters?|iterations?|episodes?|coeffs?|coefs?|lr|freq|interval|seed)$"
    r"|^(n|num)_"
)


def last_use(backward: Backward, retained: RetainFlag, model: SemanticModel) -> tuple[str, ...] | None:
    """Return what must hold for the graph of the loss to be created in the same iteration, and not needed
    after this backward: nothing if it surely is so; None if it likely is not. The loss may be a parameter,
    whose graph the callers create.
    """
    call = backward.call
    handed = losses_handed(call, retained.loss, model) if retained.call is call else []
    assumed: dict[str, None] = {}
    for place, value in handed or [(retained.place, retained.loss)]:
        found = _last_use(call, value, place, model)
        if found is None:
            return None
        assumed.update(dict.fromkeys(found))
    return tuple(assumed)


def _last_use(
    backward: ast.Call, loss: ast.expr, place: ast.expr, model: SemanticModel
) -> tuple[str, ...] | None:
    """Return the same for the value of a loss at a place: the backward, or the call that passes it on."""
    assumed: dict[str, None] = {}
    sources = model.gradients.sources(loss)
    if not sources.calls:
        return None
    for kept in sources.kept:
        if _is_no_graph(kept, model):
            continue
        if not holds_data(kept, model):
            return None  # an attribute may be part of an older graph
        assumed[f"`{model.source.text(holder_of(kept, model))}` holds no graph"] = None
    given = {each.id for each in sources.parameters if not _is_plain(each, place, model)}
    # `batch` may contain an encoder's output, for all losses
    shared = _learned_by_other_losses(given, place, model)
    doubtful = sorted(name for name in given if name in shared or not _DATA.search(name.lower()))
    if any(_may_be_graph(name, place, model) for name in doubtful):
        return None
    if doubtful:
        assumed[_no_gradient(doubtful, place, model)] = None
    loops = model.frequency.loops(place)
    made = 0
    for call in sources.calls:
        inside = all(loop in model.frequency.loops(call) for loop in loops)
        if not model.gradients.gives_gradient(call):
            if not inside and not gives_data(call, model):
                return None
            if gives_data(call, model):
                continue
        elif not inside:
            return None
        if _keeps_state(call, model) or not _ends_here(call, backward, place, model, assumed):
            return None
        made += 1
    return tuple(assumed) if made > 0 and not _is_carried(loss, place, model) else None


def _is_plain(parameter: ast.Name, backward: ast.expr, model: SemanticModel) -> bool:
    """Whether a parameter is a setting, judging by its name or as its default is a number or a text, or no
    tensor by its type.
    """
    if model.types.type_of(parameter).tag in _PLAIN:
        return True
    if _SETTINGS.search(parameter.id.lower()):
        return model.types.type_of(parameter).tag is not TypeTag.TENSOR
    function = model.function(backward)
    default = defaults_of(function.args).get(parameter.id) if function is not None else None
    return isinstance(default, ast.Constant) and default.value is not None


def _may_be_graph(name: str, backward: ast.expr, model: SemanticModel) -> bool:
    """Whether a parameter may carry a graph, judging by its name or by what the calls in this file pass for
    it.
    """
    passed = list(_passed_for(name, backward, model))
    sources = [model.gradients.sources(argument) for argument in passed]
    if any(model.gradients.gives_gradient(call) for each in sources for call in each.calls):
        return True
    if not _GRAPHS.search(name.lower()):
        return False
    summary = model.symbols.function_at(backward)
    are_all = summary is not None and len(passed) == len(model.dataflow.calls_of(summary))
    return not passed or not are_all or any(each.parameters or each.leaves for each in sources)


def _passed_for(name: str, backward: ast.expr, model: SemanticModel) -> Iterator[ast.expr]:
    """Yield what calls of the function in this file pass for a parameter."""
    function = model.function(backward)
    called = model.names.calls_by_name.get(function.name, []) if function is not None else []
    for call in called:
        for target in model.types.call_targets(call):
            if model.types.definition(target) is not function:
                continue
            yield from passed_for(name, call, target)


def _no_gradient(names: list[str], backward: ast.expr, model: SemanticModel) -> str:
    """Return the clause that these arguments carry no gradient."""
    function = model.function(backward)
    if len(names) == 1:
        return f"`{names[0]}` carries no gradient"
    if len(names) == 2 or function is None:
        return " and ".join(f"`{name}`" for name in names) + " carry no gradient"
    return f"the arguments of `{function.name}` carry no gradient"


def _is_no_graph(kept: ast.expr, model: SemanticModel) -> bool:
    """Whether a value from elsewhere is a number, a setting or a network, and no result of one."""
    return (
        numbers.is_number(kept, model)
        or model.types.type_of(kept).tag is TypeTag.MODULE
        or model.nn.has_weights_read(kept)
        or (
            isinstance(kept, ast.Attribute)
            and model.types.type_of(kept).tag is TypeTag.UNKNOWN
            and model.types.is_likely_setting(kept)
        )
    )


def _learned_by_other_losses(parameters: set[str], backward: ast.expr, model: SemanticModel) -> set[str]:
    """Return the parameters that another loss of the function depends on whose backward is called."""
    found: set[str] = set()
    for other in backwards_in(model.function(backward), model) if parameters else ():
        if other.call is not backward:
            sources = model.gradients.sources(other.loss)
            found |= parameters & {parameter.id for parameter in sources.parameters}
    return found


def _keeps_state(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the called network may store state for the next call."""
    if model.types.type_of(call.func).tag is not TypeTag.MODULE:
        return False
    return bool(model.nn.architecture(call.func).keeps)


def _ends_here(
    call: ast.Call,
    backward: ast.Call,
    place: ast.expr,
    model: SemanticModel,
    assumed: dict[str, None],
) -> bool:
    """Whether the gradient of a value ends in the backward, or before it, or is returned after it."""
    going_on = [
        left
        for left in model.gradients.sinks(call)
        if left.label not in (*gradient_sinks.ENDS, SinkKind.ARRAY)
    ]
    function = model.function(place)
    returned = [left for left in going_on if left.label is SinkKind.RETURNED]
    if returned and function is not None:
        if not all(_is_after(left.node, backward, place, model) for left in returned):
            return False
        assumed[f"callers of `{function.name}` do not call `backward` on its result"] = None
        going_on = [left for left in going_on if left not in returned]
    stored = [left for left in going_on if left.label is SinkKind.STORED]
    for left in stored:
        if not _is_after(left.node, backward, place, model):
            return False
        assumed[f"no `backward` is called on what `{_holder(left.node, model)}` keeps"] = None
    going_on = [left for left in going_on if left not in stored]
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


def _holder(node: ast.AST, model: SemanticModel) -> str:
    """Return the source of the container that stores a value: `losses` for `losses.append(loss)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=holder)):
            return model.source.text(holder)
    return model.source.text(node)


def _is_after(node: ast.AST, backward: ast.Call, place: ast.expr, model: SemanticModel) -> bool:
    """Whether a loss is returned after its backward and a step of an optimizer, which changes weights that
    another backward would need. A list may collect losses for a common backward.
    """
    match node:
        case ast.Return(value=ast.Name() as name) if any(
            isinstance(binding.value, ast.List) for binding in model.dataflow.definitions(name)
        ):
            return False
    end, returned = model.source.span(backward)[1], model.source.span(node)[0]
    is_helper = model.function(place) is not model.function(backward)
    if is_helper and model.source.span(place)[1] > returned:
        return False
    return any(
        end < model.source.span(call)[0] and (is_helper or model.source.span(call)[0] < returned)
        for call in model.names.calls_named("step", model.function(backward))
        if isinstance(call.func, ast.Attribute)
        and any(
            model.types.type_of(stepped).tag in (TypeTag.OPTIMIZER, TypeTag.UNKNOWN)
            for stepped in (call.func.value, *call.args)  # `scaler.step(optimizer)`
        )
    )


def _is_carried(loss: ast.expr, backward: ast.expr, model: SemanticModel) -> bool:
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
            if binding.kind in (BindingKind.ASSIGN, BindingKind.AUGMENT, BindingKind.WALRUS) and (
                _comes_later(binding, name, loops, model) and not _begins_in_loop(binding, name, loops, model)
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


def _begins_in_loop(binding: Binding, name: ast.Name, loops: Sequence[ast.AST], model: SemanticModel) -> bool:
    """Whether a sum such as `loss = loss + term` starts in each iteration, before its own loop."""
    node, statement = binding.node, binding.statement
    if not isinstance(node, ast.Name) or statement not in model.ancestors(name):
        return False
    around = list(model.ancestors(statement))
    return any(
        other is not binding
        and other.kind is BindingKind.ASSIGN
        and isinstance(other.value, ast.Constant)
        and model.parent(other.statement) in around
        and all(loop in model.ancestors(other.statement) for loop in loops)
        for other in model.names.bindings(node)
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
