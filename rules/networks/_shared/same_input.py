"""Whether a network, called again on the same expression, gets the same input and has the same weights."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from rlint.rule import (
    AnyLoop,
    Architecture,
    EffectKind,
    FunctionSummary,
    SemanticModel,
    Type,
    TypeTag,
    children,
    descendants,
    is_in,
    last_name,
    models,
    names_bound,
    regex,
    weight_sync,
)

# effects that change neither weights nor tensors
_HARMLESS = (
    EffectKind.ACCUMULATES_GRADIENTS
    | EffectKind.RENDERS
    | EffectKind.DRAWS
    | EffectKind.FILE_IO
    | EffectKind.READS_CLOCK
    | EffectKind.SLEEPS
    | EffectKind.WRITES_OUTPUT
    | EffectKind.WARNS
)
_CONTAINERS = frozenset(
    {TypeTag.LIST, TypeTag.DICT, TypeTag.SET, TypeTag.DEQUE, TypeTag.LOGGER, TypeTag.WRITER, TypeTag.FILE}
)
_WITHS = (ast.With, ast.AsyncWith)
_BODIES = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda})
_UPDATES = regex(r"step|backward|load|copy|updat|train|learn|optimi|sync|set_|reset|init|(^|_)fit|_$")
_OPTIMIZERS = frozenset("optimizer optimizers optimiser optim opt".split())
_PARTS = (
    frozenset({"actor", "policy", "pi"}),
    frozenset({"critic", "value", "v", "vf", "q", "qf", "qnet"}),
    frozenset({"discriminator", "disc"}),
    frozenset({"alpha", "temperature"}),
)
_WORD = regex(r"[a-z]+")
_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)


def has_seen_the_same(call: ast.Call, earlier: Sequence[ast.Call], model: SemanticModel) -> bool:
    """Return whether a call equal to `call` ran before it on the same input, with the same weights and the
    same autograd settings. `earlier` are the calls before it, in order.
    """
    for other in reversed(earlier):
        same = sees_the_same(other, call, model)
        if same:
            return True
        if same is None and _are_in_same_block(other, call, model):
            return False  # a change between these two is also one between `call` and all earlier ones
    return False


def that_see_the_same(call: ast.Call, later: Sequence[ast.Call], model: SemanticModel) -> list[ast.Call]:
    """Return the calls equal to `call` that run after it on the same input, with the same weights and the
    same autograd settings. `later` are the calls after it, in order.
    """
    found: list[ast.Call] = []
    for other in later:
        same = sees_the_same(call, other, model)
        if same:
            found.append(other)
        elif same is None and _are_in_same_block(call, other, model):
            break  # a change between these two is also one between `call` and all later ones
    return found


def sees_the_same(call: ast.Call, again: ast.Call, model: SemanticModel) -> bool | None:
    """Whether `again`, which is equal to `call`, runs after it on the same input, with the same weights and
    the same autograd settings. None if the input, weights or settings may change in between.
    """
    if not model.dataflow.order.always_before(call, again) or _withs(call, model) != _withs(again, model):
        return False
    between = model.dataflow.between(call, again)
    if between is None:
        return False
    evaluated_between, around = model.dataflow.order.evaluated_between(call, again)
    watched = Watched(call, model)
    if any(
        watched.changed_by(node) and not _is_of_tensors(node, model)
        for part in evaluated_between
        for node in nodes_run(part)
    ):
        return None
    if any(watched.changed_by(node) for part in between for node in nodes_run(part)):
        return None
    return None if any(_changes(node, call, watched, model) for node in around) else True


def _changes(around: ast.AST, call: ast.Call, watched: Watched, model: SemanticModel) -> bool:
    """Whether the rest of the same expression may modify the network's output, its input or the network."""
    match around:
        case ast.Call(func=ast.Attribute(attr=method) as func) if is_in(call, func):
            return method.endswith("_")
    return watched.changed_by(around) and not _is_of_tensors(around, model)


def _is_of_tensors(node: ast.AST, model: SemanticModel) -> bool:
    """Whether it is a call of a method that, judging by its name, only computes a value from a tensor."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if not model.types.type_of(owner):
            known = models.method_fact(TypeTag.TENSOR, method)
            return known is not None and known.effect.quiet and not model.types.call_targets(node)
    return False


def _are_in_same_block(call: ast.Call, other: ast.Call, model: SemanticModel) -> bool:
    """Whether two calls are in simple statements of one block."""
    first, second = model.syntax.statement(call), model.syntax.statement(other)
    return (
        isinstance(first, _SIMPLE)
        and isinstance(second, _SIMPLE)
        and model.syntax.block(first)[0] is model.syntax.block(second)[0]
    )


def loop_without_change(call: ast.Call, model: SemanticModel) -> AnyLoop | None:
    """Return the outermost `for` loop or comprehension that runs `call` in each iteration on the same input,
    with the same weights.
    """
    watched = Watched(call, model)
    found = None
    for loop in model.frequency.loops(call):
        if isinstance(loop, ast.While) or any(watched.changed_by(node) for node in nodes_run(loop)):
            break
        found = loop
    return found


def is_forward(
    call: ast.Call, model: SemanticModel, *, may_draw: bool = False, may_have_unknown: bool = False
) -> bool:
    """Whether a call runs a deterministic network with weights, on arguments that are the same each time. If
    it `may_draw`, the network may also draw random numbers; with `may_have_unknown`, only its known layers
    are deterministic.
    """
    structure = architecture_of(call, model)
    if structure is None or not structure.weights:
        return False
    if not (
        structure.repeatable
        or (may_draw and structure.traceless)
        or (may_have_unknown and structure.seems_repeatable)
    ):
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return all(model.effects.effect_of(value).quiet for value in given)


def seems_repeatable(forward: ast.Call, model: SemanticModel) -> bool:
    """Whether a network is deterministic, as far as its layers are known."""
    if is_forward(forward, model, may_have_unknown=True):
        return True
    structure = architecture_of(forward, model)
    if structure is None or structure.complete or structure.layers:
        return False
    run = model.nn.network_run(forward)
    if run is not None and run[1] != "forward" and _has_known_code(forward, run, model):
        return False  # the code of the method shows no layer: it may only create an object
    return not (structure.by_mode or structure.draws or structure.hooks or structure.keeps)


def _has_known_code(forward: ast.Call, run: tuple[ast.expr, str], model: SemanticModel) -> bool:
    """Whether the method that a call runs is one of torch (`net.to(device)`), or of known classes."""
    if run[1] in models.methods_of(TypeTag.MODULE):
        return True
    if targets := model.types.call_targets(forward):
        return not any(_runs_module(each, model) for each in targets)
    return "{" in model.types.type_of(run[0]).of  # one of several classes


def _runs_module(method: FunctionSummary, model: SemanticModel) -> bool:
    """Whether a method of a network runs an attribute of it that is a network, of whatever layers."""
    cls = model.index.owner_of(method)
    return cls is not None and any(
        site.receiver == "self" and model.index.attribute(cls, site.method).tag is TypeTag.MODULE
        for site in method.calls
    )


def architecture_of(call: ast.Call, model: SemanticModel) -> Architecture | None:
    """Return the architecture that a call runs: that of a network, or of one of its methods."""
    run = model.nn.network_run(call)
    return model.nn.architecture(*run) if run is not None else None


def stays_the_same(moved: ast.AST, parts: Iterable[ast.AST], model: SemanticModel) -> bool:
    """Whether a forward pass, in any mode, would give the same result after `parts`, which run after it."""
    watched = Watched(moved, model)
    return not any(
        watched.changed_by(node) for part in parts for node in nodes_run(part) if not _is_mode(node, model)
    )


def likely_sees_the_same(call: ast.Call, again: ast.Call, model: SemanticModel) -> bool:
    """Whether `again` likely runs on the same input with the same weights, with or without autograd: only
    calls of other objects are in between, and none of them updates weights, judging by their names and
    their functions.
    """
    if not model.dataflow.order.always_before(call, again) or _other_withs(call, model) != _other_withs(
        again, model
    ):
        return False
    between = _between(call, again, model)
    if between is None:
        return False
    evaluated_between, around = model.dataflow.order.evaluated_between(call, again)
    watched = Watched(call, model)
    if any(_changes(node, call, watched, model) and _may_update(node, watched, model) for node in around):
        return False
    return likely_stays_the_same(call, (*between, *evaluated_between), model)


def _between(call: ast.Call, again: ast.Call, model: SemanticModel) -> list[ast.AST] | None:
    """Return what may run between two calls, also if the first one is in a block without autograd, after
    which the second one follows.
    """
    found = model.dataflow.between(call, again)
    if found is not None:
        return found
    around = set(_withs(again, model))
    block = next((each for each in reversed(_withs(call, model)) if each not in around), None)
    if not isinstance(block, ast.With) or not _turns_autograd_off(block, model):
        return None
    after = model.dataflow.between(block, again)
    place = next(index for index, statement in enumerate(block.body) if is_in(call, statement))
    if after is None or model.syntax.statement(call) is not block.body[place]:
        return None
    return [*block.body[place + 1 :], *after]


def likely_unchanged_between(
    first: ast.Call, again: ast.Call, forward: ast.Call, model: SemanticModel
) -> bool:
    """Whether the code between two calls likely changes neither the weights nor the input of a forward pass
    that both run: no call in between trains, or is passed the network.
    """
    between = model.dataflow.between(first, again)
    if between is None:
        return False
    evaluated_between, _ = model.dataflow.order.evaluated_between(first, again)
    watched = Watched(forward, model)
    for part in (*between, *evaluated_between):
        for node in nodes_run(part):
            if isinstance(node, ast.Call):
                if (
                    watched.changed_by(node)
                    and not _is_mode(node, model)
                    and _may_train(node, watched, model)
                ):
                    return False
            elif isinstance(node, ast.Attribute) and watched.changed_by(node):
                return False
    return True


def likely_stays_the_same(moved: ast.AST, parts: Iterable[ast.AST], model: SemanticModel) -> bool:
    """Whether a forward pass likely gives the same result after `parts`: only calls of other objects may
    change it, and none of them updates weights, judging by their names and their functions.
    """
    watched = Watched(moved, model)
    return not any(
        watched.changed_by(node) and not _is_mode(node, model) and _may_update(node, watched, model)
        for part in parts
        for node in nodes_run(part)
    )


def _may_update(node: ast.AST, watched: Watched, model: SemanticModel) -> bool:
    """Whether a node that may change what is watched likely does: it is no call, its name says so, it is
    passed what is watched, or it trains.
    """
    if not isinstance(node, ast.Call) or _may_train(node, watched, model):
        return True
    if _is_of_new_tensor(node, model):
        return False
    targets = model.types.call_targets(node)
    used = {each.id for each in descendants(node) if isinstance(each, ast.Name)} - {"self"}
    if not used & watched.names:
        return False
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    if not any(each.sets for each in targets) and any(_only_runs_argument(node, one, model) for one in given):
        return False
    return not targets or bool(model.effects.call_effect(node).kind & EffectKind.MUTATES)


def _may_train(call: ast.Call, watched: Watched, model: SemanticModel) -> bool:
    """Whether a call updates weights, by its name or its functions, or is passed a watched network."""
    if _is_named_after_other(call, watched, model):
        return False
    if _UPDATES.search(last_name(call.func) or "") and not _is_of_new_tensor(call, model):
        return True
    if any(each.updates or model.nn.learns(each) for each in model.types.call_targets(call)):
        return True
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    if isinstance(call.func, ast.Attribute):
        arguments += [call.func.value] if model.source.text(call.func.value) != "self" else []
    return any(
        _is_handed(part, watched, model)
        for each in arguments
        if not _only_runs_argument(call, each, model)
        for part in descendants(each)
    )


def _is_of_new_tensor(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a method changes a tensor in place that the same expression creates:
    `torch.empty(n).uniform_(-1, 1)`.
    """
    match call.func:
        case ast.Attribute(value=ast.Call(func=made) as owner, attr=method):
            created = (model.names.qualified(made) or "").startswith("torch.")
            return created and method.endswith("_") and model.types.type_of(owner).tag is TypeTag.TENSOR
    return False


def _only_runs_argument(call: ast.Call, argument: ast.expr, model: SemanticModel) -> bool:
    """Whether all functions that a call may run only run a network that it passes to them."""
    targets = model.types.call_targets(call)
    return bool(targets) and all(
        model.gradients.runs_argument(call, argument, each) and not each.updates and not model.nn.learns(each)
        for each in targets
    )


def _is_named_after_other(call: ast.Call, watched: Watched, model: SemanticModel) -> bool:
    """Whether a call steps an optimizer that is named after another network: `self.actor_optimizer.step()`
    for `self.critic`.
    """
    match call.func:
        case ast.Attribute(value=ast.Attribute() | ast.Name() as optimizer, attr="step"):
            pass
        case _:
            return False
    words = weight_sync.words_of(optimizer, model)
    run = {word for text in watched.networks for word in _WORD.findall(text.lower())}
    parts, run_parts = _parts_of_agent(words), _parts_of_agent(run)
    if not words & _OPTIMIZERS or not parts or not run_parts or parts & run_parts:
        return False
    known = model.nn.optimizers(optimizer).get(model.source.text(optimizer))
    return not any(one in watched.networks for one in known or ())


def _parts_of_agent(words: Collection[str]) -> set[int]:
    """Return the parts of an agent that words name: 0 for its policy, 1 for its values, and so on."""
    return {index for index, part in enumerate(_PARTS) if not part.isdisjoint(words)}


def _is_handed(part: ast.AST, watched: Watched, model: SemanticModel) -> bool:
    """Whether a part of an argument is a network that is watched, or the object that holds it."""
    if not isinstance(part, (ast.Name, ast.Attribute)):
        return False
    parent, text = model.parent(part), model.source.text(part)
    if isinstance(parent, ast.Attribute):
        call = model.parent(parent)
        if text == "self" or not (isinstance(call, ast.Call) and call.func is parent):
            return False
    elif isinstance(parent, ast.Call) and parent.func is part:
        return False
    return text in watched.networks


def _is_mode(node: ast.AST, model: SemanticModel) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="eval" | "train")):
            return model.types.type_of(owner).tag is TypeTag.MODULE
    return False


def _withs(node: ast.AST, model: SemanticModel) -> list[ast.AST]:
    """Return the `with` blocks around a node that may change autograd or autocast."""
    return [ancestor for ancestor in model.ancestors(node) if isinstance(ancestor, _WITHS)]


def _other_withs(node: ast.AST, model: SemanticModel) -> list[ast.AST]:
    """Return the `with` blocks around a node, without those that only turn autograd off."""
    return [block for block in _withs(node, model) if not _turns_autograd_off(block, model)]


def _turns_autograd_off(block: ast.AST, model: SemanticModel) -> bool:
    return isinstance(block, _WITHS) and all(
        isinstance(item.context_expr, ast.Call)
        and not item.context_expr.args
        and model.names.qualified(item.context_expr.func) in ("torch.no_grad", "torch.inference_mode")
        for item in block.items
    )


def have_same_blocks(call: ast.AST, again: ast.AST, model: SemanticModel) -> bool:
    """Whether two nodes are in the same `with` blocks."""
    return _withs(call, model) == _withs(again, model)


def nodes_run(part: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run with a part, the last ones first. Bodies of functions only run when they are
    called.
    """
    stack = [part]
    while stack:
        node = stack.pop()
        yield node
        if node.__class__ not in _BODIES:
            stack.extend(children(node))


class Watched:
    """The names and attributes that a call of a network depends on."""

    def __init__(self, call: ast.AST, model: SemanticModel) -> None:
        self.model = model
        self.call = call
        nodes = list(descendants(call))
        self.names = {
            node.id for node in nodes if isinstance(node, ast.Name) and model.names.qualified(node) is None
        }
        self.attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}

    @cached_property
    def networks(self) -> frozenset[str]:
        """Return the networks that are called, and the objects that hold them: `agent.net` and `agent`."""
        found: set[str] = set()
        for node in descendants(self.call):
            part = node.func if isinstance(node, ast.Call) else None
            if part is not None and self.model.names.qualified(part) is not None:
                continue
            while isinstance(part, (ast.Attribute, ast.Subscript, ast.Name)):
                found.add(self.model.source.text(part))
                part = part.value if not isinstance(part, ast.Name) else None
        return frozenset(found)

    def changed_by(self, node: ast.AST) -> bool:
        """Return whether running this node, without its children, may change the input, the weights or the
        mode.
        """
        if isinstance(node, ast.Call):
            return self._changed_by_call(node)
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            return not isinstance(node.ctx, ast.Load) and self._changed_by_binding(node)
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
            return True
        return any(name in self.names for name in names_bound(node))

    def _changed_by_binding(self, target: ast.Name | ast.Attribute | ast.Subscript) -> bool:
        if isinstance(target, ast.Name):
            return target.id in self.names
        if isinstance(target, ast.Subscript):
            return self._holds(target.value)
        return target.attr in self.attributes or target.attr in ("data", "training", "requires_grad")

    def _holds(self, owner: ast.expr) -> bool:
        """Whether a changed object is one that the call depends on."""
        for node in descendants(owner):
            if isinstance(node, ast.Attribute) and node.attr in self.attributes:
                return True
        while isinstance(owner, (ast.Attribute, ast.Subscript, ast.Call)):
            owner = owner.func if isinstance(owner, ast.Call) else owner.value
        return isinstance(owner, ast.Name) and owner.id in self.names

    def _changed_by_call(self, call: ast.Call) -> bool:
        model = self.model
        if model.types.type_of(call.func).tag is TypeTag.MODULE:
            return False  # another network runs
        effect = model.effects.call_effect(call)
        if effect.does_only(_HARMLESS):
            return False
        match call.func:
            case ast.Attribute(value=owner, attr=method) if model.names.qualified(call.func) is None:
                kind = model.types.type_of(owner)
                if kind.tag in _CONTAINERS:
                    return self._holds(owner)
                if method == "backward" and not model.types.call_targets(call):
                    return False  # of a loss: only gradients change
                if method == "zero_grad" or (method == "step" and self._is_of_others(owner, kind)):
                    return False
                if kind.tag is TypeTag.MODULE:
                    return not _only_runs(owner, method, model)
        return True

    def _is_of_others(self, optimizer: ast.expr, kind: Type) -> bool:
        """Whether an object is an optimizer, and the network is a target network that none updates, or one
        that this optimizer has not received.
        """
        if kind.tag is not TypeTag.OPTIMIZER or not isinstance(self.call, ast.Call):
            return False
        run = self.model.nn.network_run(self.call)
        if run is None:
            return False
        if is_unoptimized_target(run[0], self.model):
            return True
        updated = self.model.nn.optimizers(optimizer).get(self.model.source.text(optimizer))
        name = self.model.source.text(run[0])
        return bool(updated) and not any(
            f"{one}.".startswith(f"{name}.")
            or f"{name}.".startswith(f"{one}.")
            or self.model.nn.share_modules(one, name)
            for one in updated or ()
        )


def is_unoptimized_target(network: ast.expr, model: SemanticModel) -> bool:
    """Whether a network is a target network, into which the file copies weights, and no optimizer updates it
    or a part of it.
    """
    if not weight_sync.called_follower(network, model) or model.nn.is_optimized(network) is not False:
        return False
    known = model.nn.optimizers(network)
    name = model.source.text(network)
    return not any(
        updated is None or any(f"{one}.".startswith(f"{name}.") for one in updated)
        for updated in known.values()
    )


def _only_runs(owner: ast.expr, method: str, model: SemanticModel) -> bool:
    """Whether a method of a network only runs layers: `agent.get_value(x)`."""
    structure = model.nn.architecture(owner, method)
    return structure.complete and not (structure.keeps or structure.hooks)
