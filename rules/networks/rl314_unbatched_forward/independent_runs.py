"""Networks that run once for each of the independent items of a loop, in the loop itself or in the functions
that it calls.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from rlint.rule import (
    LOOPS,
    AnyLoop,
    CallSite,
    Driver,
    EffectKind,
    Function,
    FunctionSummary,
    ItemKind,
    LoopItem,
    SemanticModel,
    Trait,
    TypeTag,
    arguments_by_name,
    descendants,
    frozen,
    is_in,
    last_name,
    loop_variables,
    models,
    one_row_batches,
    only_callee,
    regex,
    variable_names,
    vocabulary,
)
from rlint.rules.networks.rl314_unbatched_forward.next_inputs import Iterations
from rlint.rules.networks.rl314_unbatched_forward.one_row import is_made_row
from rlint.rules.networks.rl314_unbatched_forward.own_environments import RESTORES, is_own_step
from rlint.rules.networks.rl314_unbatched_forward.per_item import PARTS

_ITEM = regex(
    r"(^|_)(traj(ectory)?|episode|rollout|segment|pair|child|node|leaf|candidate|sample|example|transition|"
    r"experience|game|prompt|question|query|completion|response|snake|agent|env|seed|state|obs|observation|"
    r"position|plan|proposal|molecule|mol|goal|problem|item|record)(_?\d+)?$",
    re.IGNORECASE,
)
_OF_TEXT = regex(r"token|sequence|sentence|input_ids|word|text", re.IGNORECASE)
_BATCHES = regex(r"batches|chunks|splits|shards|loader|groups|parts", re.IGNORECASE)
_GENERATES = frozenset({"generate", "predict", "predict_on_batch", "get_reward", "score"})
_MODELS = regex(r"(^|_)(model|net|network|policy|critic|actor|llm|lm|q|dqn|generator|transformer)(_|$)")
_NETWORKS = frozenset(
    "model net network policy_net q_net q_network policy_network target_net target_network reward_model "
    "critic dqn value_net value_network llm language_model".split()
)
_COMPUTES = regex(
    r"^_*(compute|get|calculate|calc|predict|estimate|evaluate|generate|sample|log_?prob|score)(_|$)"
)
_PICKED = regex(r"agents|actors|critics|networks|nets|models|policies|members|heads")
_STATE = regex(r"hidden|state|memory|history|carry|rnn|context", re.IGNORECASE)
_DRAWS = regex(r"(^|_)(generate|sample|complete|denoise|draw|decode|imagine|rollout)(_|$)")
_NOT_BY_NAME = regex(
    r"(^|_)(step|reset|learn\w*|train\w*|updat\w*|optimi\w*|fit|collect\w*|run|play|save|load|backward|loader|"
    r"plot|render|print|test|eval|evaluate_policy|init|main|__init__)(_|$)"
)
_FILLS = frozenset({"torch.full", "torch.full_like", "numpy.full", "numpy.full_like"})
_FROM_DATA = models.having(Trait.FROM_DATA, "torch", "numpy") | {"torch.nn.functional.one_hot"}
_DEPTH = 3
_MOST_CALLED = 3
_MOST_TARGETS = 12
"""Maximum number of functions that a call may run, such as the overrides of a method."""


@frozen
class IndependentRun:
    """A call that runs a network on one of the items of a loop."""

    call: ast.Call
    item: LoopItem
    in_callee: bool


def independent_run(loop: AnyLoop, model: SemanticModel) -> IndependentRun | None:
    """Return the first call of a loop that runs a network on an item of the loop, with an input that depends
    on the result of no earlier iteration, so that one call could run on all items.
    """
    if isinstance(loop, (ast.While, ast.AsyncFor)) or loop_variables.is_short(loop, model.names.qualified):
        return None
    runs = [(call, kind) for call, kind in _runs_in(loop, model)]
    if not runs or _is_ordered(loop, model):
        return None
    look = Iterations(loop, model)
    for call, in_callee in sorted(runs, key=lambda run: model.source.span(run[0])):
        inputs = [*call.args, *(keyword.value for keyword in call.keywords)]
        inputs = [each.value if isinstance(each, ast.Starred) else each for each in inputs]
        item = _item_of(call, inputs, look, model) or _drawn_again(call, inputs, look, model)
        if item is None or look.reaches_next_input(call, inputs) or _ends_by(call, loop, look, model):
            continue
        return IndependentRun(call, item, in_callee)
    return None


def _runs_in(loop: AnyLoop, model: SemanticModel) -> Iterator[tuple[ast.Call, bool]]:
    """Yield the calls in a loop that run a network, and whether a function of the project does."""
    for node in descendants(loop):
        if not isinstance(node, ast.Call) or not (node.args or node.keywords):
            continue
        if (
            not isinstance(node.func, (ast.Name, ast.Attribute))
            or loop not in model.frequency.loops(node)[:2]
        ):
            continue
        name = last_name(node.func) or ""
        if "loss" in name.lower() or "criterion" in name.lower():
            continue
        if (run := model.nn.network_run(node)) is not None:
            if run[1] in models.methods_of(TypeTag.MODULE) and run[1] not in ("forward", "__call__"):
                continue
            structure = model.nn.architecture(*run)
            if structure.keeps or (structure.complete and not structure.weights):
                continue
            if structure.recurrent:
                continue
            is_run = run[1] in ("forward", "__call__") or run[1] in _GENERATES
            if is_run or _run_network(model.types.call_targets(node), model):
                yield node, False
        elif (
            name in _GENERATES and isinstance(node.func, ast.Attribute) and not model.types.call_targets(node)
        ):
            if _MODELS.search((last_name(node.func.value) or "").lower()):
                yield node, False
        elif not _is_recursive(node, model) and _run_network(model.types.call_targets(node), model):
            if not _picks_network(node, loop, model):
                yield node, True
        elif model.analysis.loops.item_runs.is_network(node) and not model.types.call_targets(node):
            yield node, False


def _picks_network(call: ast.Call, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether a function takes the counter of a loop to pick one of several agents or networks:
    `self.agents[index]`.
    """
    counters = variable_names(loop.target) if isinstance(loop, ast.For) else frozenset[str]()
    for target in model.types.call_targets(call):
        function = model.types.definition(target)
        given = arguments_by_name(call, target.call_parameters) or {}
        passed = {
            name for name, value in given.items() if isinstance(value, ast.Name) and value.id in counters
        }
        if function is not None and any(_is_picked(node, passed) for node in descendants(function)):
            return True
    return False


def _is_picked(node: ast.AST, indices: set[str]) -> bool:
    match node:
        case ast.Subscript(value=held, slice=ast.Name(id=name)) if name in indices:
            return bool(_PICKED.search((last_name(held) or "").lower()))
    return False


def why_off(run: IndependentRun, model: SemanticModel) -> str | None:
    """Return why the called function runs no network by default, given what the call passes to it."""
    function = only_callee(run.call, model) if run.in_callee else None
    if function is None:
        return None
    runs = [
        node
        for node in descendants(function)
        if isinstance(node, ast.Call)
        and (model.nn.network_run(node) is not None or _run_network(model.types.call_targets(node), model))
    ]
    reasons = [model.branches.why_off_at(run.call, node) for node in runs]
    return f"it only runs with other settings: {reasons[0]}" if reasons and all(reasons) else None


def _is_recursive(call: ast.Call, model: SemanticModel) -> bool:
    function = model.function(call)
    return function is not None and function.name == last_name(call.func)


def _run_network(functions: Sequence[FunctionSummary], model: SemanticModel) -> bool:
    """Whether one of the functions that a call may run runs a network for its caller, and none trains or
    steps an environment.
    """
    if not 0 < len(functions) <= _MOST_TARGETS:
        return False
    name = functions[0].name
    if _NOT_BY_NAME.search(name) or vocabulary.STORES & set(name.split("_")):
        return False
    if any(each.is_property or each.updates or each.learned or model.nn.learns(each) for each in functions):
        return False
    if any(_STATE.search(name) for each in functions for name, _ in each.sets):
        return False
    found = [model.once(_reach_of, each) for each in functions]
    if None in found:
        return False
    definitions = [model.types.definition(each) for each in functions]
    return True in found or any(
        each is not None and model.once(_runs_parameter, each) for each in definitions
    )


def _runs_parameter(function: Function, model: SemanticModel) -> bool:
    """Whether a function calls a parameter that is named as a network."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _NETWORKS
        and model.names.qualified(node.func) is None
        for node in descendants(function)
    )


def _reach_of(function: FunctionSummary, model: SemanticModel) -> bool | None:
    return _reach(function, model, _DEPTH)


def _reach(function: FunctionSummary, model: SemanticModel, depth: int) -> bool | None:
    """Whether a function runs a network; None if it steps an environment whose state it has not set."""
    restores = any(site.method in RESTORES for site in function.calls)
    if not restores and Driver.ENVIRONMENT_STEP in _drivers(function):
        return None
    found = any(_MODELS.search(name.lower()) for name in function.runs)
    for site in function.calls:
        if _is_network(site):
            found = True
        if not site.path:
            continue
        if model.index.resolve(site.path, function.module).tag is TypeTag.MODULE:
            found = True
        elif depth > 1 and site.path.count(".") <= 8:
            for each in model.index.callables(site.path, function.module)[:_MOST_CALLED]:
                if each is not function:
                    inner = _reach(each, model, depth - 1)
                    if inner is None:
                        return None
                    found |= inner
    return found


def _drivers(function: FunctionSummary) -> frozenset[Driver]:
    return function.drivers.union(*(loop.drivers for loop in function.loops))


def _is_network(site: CallSite) -> bool:
    """Whether a call likely runs a network, by the name of a parameter or of an attribute of unknown type:
    `self.model(x)`; or passes it to a function that computes a value with it: `compute_value(self.model, x)`.
    """
    name = site.path.rpartition(".")[2] or site.method
    if name in ("forward", "__call__"):
        name = site.receiver
    if name in _NETWORKS and site.arguments:
        return True
    if name == "generate" and _MODELS.search(site.receiver.lower()):
        return True
    passed = [each for _, each in site.names if each in _NETWORKS]
    return len(passed) == 1 and len(site.arguments) > 1 and bool(_COMPUTES.search(name))


def _is_ordered(loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether the order of the iterations matters whatever they compute: the loop trains, yields, measures
    time, or steps an environment that they share.
    """
    for node in descendants(loop):
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
            return True
        if (
            isinstance(node, ast.Call)
            and model.analysis.loops.driver_of(node) is Driver.ENVIRONMENT_STEP
            and not is_own_step(node, loop, model)
        ):
            return True
    function = model.function(loop)
    measures = any(model.names.calls_named(name, function) for name in vocabulary.MEASURES_TIME)
    return measures or model.nn.takes_gradient_steps(loop)


def _ends_by(call: ast.Call, loop: AnyLoop, look: Iterations, model: SemanticModel) -> bool:
    """Whether the result of a call decides if the loop goes on."""
    for node in look.nodes:
        if isinstance(node, (ast.Break, ast.Return)):
            for above in model.ancestors(node):
                if above is loop:
                    break
                if isinstance(above, LOOPS) and isinstance(node, ast.Break):
                    break
                if isinstance(above, ast.If) and look.depends_on(above.test, call):
                    return True
    return False


def _item_of(
    call: ast.Call, inputs: list[ast.expr], look: Iterations, model: SemanticModel
) -> LoopItem | None:
    """Return the item that a call runs on, if it is one of many rather than a batch or a number."""
    names = look.names_in(inputs)
    found = [name for name in names if look.is_item(name)]
    if not found or look.items_in([call.func]) or any(_is_network_itself(name, model) for name in names):
        return None  # a network for each item
    if any(PARTS.search(name.id) for name in names) and not any(
        _has_batches_of_one(look.items[name.id], model) for name in found
    ):
        return None  # mini-batches
    if any(_is_bare_count(name, look, call) for name in found):
        return None  # may select a network
    for name in found:
        item = look.items[name.id]
        over = last_name(item.over) or ""
        if any(_OF_TEXT.search(each) and not _ITEM.search(each) for each in (name.id, over)):
            return None
        if (_BATCHES.search(over) or _is_loaded(item, model)) and not _has_batches_of_one(item, model):
            return None
        if _is_in_slice(name, model):
            return None
    for name in found:
        one: LoopItem = look.items[name.id]
        if is_made_row(name, call, look, model):
            return one
    for name in found:
        one = look.items[name.id]
        around = model.parent(name)
        if one.sort is ItemKind.COUNT:
            if (isinstance(around, ast.Subscript) and around.slice is name) or _is_filled_in(name, model):
                return one
        elif one.sort is ItemKind.ELEMENT and (
            _ITEM.search(name.id)
            or _ITEM.search(_singular(one))
            or _is_object(name, model)
            or _has_one_row(inputs, look, model)
            or _has_batches_of_one(one, model)
        ):
            return one
    return None


def _is_filled_in(counter: ast.Name, model: SemanticModel) -> bool:
    """Whether a counter is only a value in a new tensor, whose shape is the same in each iteration:
    `F.one_hot(torch.tensor([action]), n)`, `torch.full((len(states), 1), action)`.
    """
    child: ast.AST = counter
    for above in model.ancestors(counter):
        match above:
            case ast.Call(func=func, args=args, keywords=keywords):
                name = model.names.qualified(func) or ""
                if name in _FILLS:
                    return child in args[1:2] or any(
                        child is each and each.arg == "fill_value" for each in keywords
                    )
                if name in _FROM_DATA:
                    return child in args[:1]
            case ast.List() | ast.Tuple() | ast.BinOp() | ast.keyword():
                pass
            case _:
                return False
        child = above
    return False


def _is_bare_count(name: ast.Name, look: Iterations, call: ast.Call) -> bool:
    """Whether a counter or key is an argument itself."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return look.items[name.id].sort is not ItemKind.ELEMENT and name in given


def _drawn_again(
    call: ast.Call, inputs: list[ast.expr], look: Iterations, model: SemanticModel
) -> LoopItem | None:
    """Return the counter of `for _ in range(n)`, if each iteration draws from the same input again, or draws
    a new input.
    """
    if len(look.items) != 1 or look.names_in([call.func]):
        return None
    if isinstance(model.parent(call), ast.Expr):
        return None  # it runs for what it changes, such as a search tree: `tree.explore(policy)`
    if any(model.effects.effect_of(value).kind & EffectKind.CONSUMES for value in inputs):
        return None  # `next(batches)`
    drawn = [value for name in look.names_in(inputs) for value in look.values_of(name)]
    effects = [model.effects.effect_of(value) for value in drawn]
    if drawn and not any(effect.kind & EffectKind.DRAWS for effect in effects):
        return None
    if not all(effect.does_only(EffectKind.DRAWS) for effect in effects):
        return None  # other code may use the results of earlier iterations
    item = next(iter(look.items.values()))
    over = item.over
    if item.sort is not ItemKind.COUNT or not isinstance(over, ast.Call) or len(over.args) != 1:
        return None
    reads = [node for node in look.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    if any(map(look.is_item, reads)):
        return None
    draws = (
        drawn
        or model.effects.call_effect(call).kind & EffectKind.DRAWS
        or _DRAWS.search(last_name(call.func) or "")
    )
    return item if draws and model.names.qualified(over.func) == "builtins.range" else None


def _is_network_itself(name: ast.Name, model: SemanticModel) -> bool:
    """Whether a loop binds a variable to a network, or selects one by it: `actor` or `self.actors[agent]`."""
    around = model.parent(name)
    if isinstance(around, ast.Subscript) and around.slice is name:
        owner = last_name(around.value) or ""
        if _MODELS.search(owner.lower().removesuffix("s")):
            return True
        return model.types.type_of(around).tag is TypeTag.MODULE
    return model.types.type_of(name).tag is TypeTag.MODULE or bool(_MODELS.search(name.id.lower()))


def _singular(item: LoopItem) -> str:
    """Return the name of one element of the iterated object: `transition` of `transitions`; `sample` for the
    parts of the elements of a `batch`.
    """
    over = last_name(item.over) or ""
    if item.is_part and over.lower() in ("batch", "samples", "minibatch"):
        return "sample" if not item.name.endswith("s") else ""
    if over == "children":
        return "child"
    return re.sub("ies$", "y", over) if over.endswith("ies") else over.removesuffix("s")


def _is_object(name: ast.Name, model: SemanticModel) -> bool:
    """Whether an attribute of an element is read, which is no tensor: of a transition, or a node."""
    around = model.parent(name)
    if not isinstance(around, ast.Attribute) or around.value is not name:
        return False
    above = model.parent(around)
    called = isinstance(above, ast.Call) and above.func is around
    return not called and model.types.type_of(name).tag in (TypeTag.UNKNOWN, TypeTag.INSTANCE)


def _is_loaded(item: LoopItem, model: SemanticModel) -> bool:
    return model.types.type_of(item.over).tag is TypeTag.LOADER


def _has_batches_of_one(item: LoopItem, model: SemanticModel) -> bool:
    """Whether a loop iterates over batches that are created with the size 1."""
    values = [item.over]
    if isinstance(item.over, ast.Name):
        bindings = model.dataflow.definitions(item.over)
        values = [binding.value for binding in bindings if binding.value is not None]
    return any(
        isinstance(value, ast.Call)
        and any(
            each.arg == "batch_size" and isinstance(each.value, ast.Constant) and each.value.value == 1
            for each in value.keywords
        )
        for value in values
    )


def _is_in_slice(place: ast.Name, model: SemanticModel) -> bool:
    """Whether a variable is used in a bound of a slice: mini-batches."""
    for above in model.ancestors(place):
        if isinstance(above, ast.Slice):
            return True
        if isinstance(above, ast.stmt):
            return False
    return False


def _has_one_row(inputs: list[ast.expr], look: Iterations, model: SemanticModel) -> bool:
    """Whether an input gets a batch dimension in the loop."""
    values = list(inputs)
    for value in inputs:
        for node in descendants(value):
            if isinstance(node, ast.Name):
                values += [
                    binding.value
                    for binding in model.dataflow.definitions(node)
                    if binding.value is not None and is_in(binding.node, look.loop)
                ]
    return any(
        one_row_batches.only_row(node, model) is not None for value in values for node in descendants(value)
    )
