"""Networks that run once per step of a rollout over time, although the rollout does not need their results,
or they do not need its state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    AnyLoop,
    BindingKind,
    Driver,
    Function,
    SemanticModel,
    Trait,
    TypeTag,
    axes_of,
    descendants,
    is_in,
    models,
    parameter_of,
)
from rlint.rules.networks._shared.same_input import nodes_run

_RESHAPES = models.having(Trait.KEEPS_VALUES | Trait.KEEPS_ORDER, TypeTag.TENSOR)
_LEAVES = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Break)
_FEWEST_ARGUMENTS = 2


def is_only_stored(call: ast.Call, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether the loop computes a state from that of the step before, runs a network on it, and only stores
    the result by step: `rewards[:, t] = head(state)`, `rewards.append(head(state))`.
    """
    if not isinstance(loop, ast.For) or not model.once(_is_rollout, loop):
        return False
    if not _reads_state(call, loop, model):
        return False
    return _is_stored(call, loop, model)


def encoders_of_steps(call: ast.Call, loop: AnyLoop, model: SemanticModel) -> Iterator[ast.Call]:
    """Yield the networks that a step function of this file runs on nothing but a step of a sequence:
    `encoder` of `def step(self, obs, state): return self.cell(self.encoder(obs), state)`, called with
    `obs[:, t]`.
    """
    if not isinstance(loop, ast.For) or len(call.args) + len(call.keywords) < _FEWEST_ARGUMENTS:
        return
    targets = model.types.call_targets(call)
    function = model.types.definition(targets[0]) if len(targets) == 1 else None
    if function is None or not model.once(_is_rollout, loop) or not _reads_state(call, loop, model):
        return
    counter = loop.target.id if isinstance(loop.target, ast.Name) else ""
    steps = {
        parameter_of(argument, call, targets[0])
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
        if _is_step(argument, counter, loop)
    } - {None}
    for node in descendants(function) if steps else ():
        if isinstance(node, ast.Call) and model.gradients.gives_gradient(node):
            names = [
                name
                for given in (*node.args, *(keyword.value for keyword in node.keywords))
                for name in descendants(given)
                if isinstance(name, ast.Name) and model.names.qualified(name) is None
            ]
            if names and all(name.id in steps and _is_given(name, function, model) for name in names):
                yield node


def _is_rollout(loop: ast.For, model: SemanticModel) -> bool:
    """Whether a loop counts steps, neither ends early nor takes gradient steps or steps of an environment,
    and carries a variable from each step to the next.
    """
    match loop:
        case ast.For(iter=ast.Call(func=func, args=args), target=ast.Name()) if len(args) <= 2:
            if model.names.qualified(func) != "builtins.range":
                return False
        case _:
            return False
    for node in nodes_run(loop):
        if isinstance(node, _LEAVES):
            return False
        if isinstance(node, ast.Call) and model.analysis.loops.driver_of(node) is Driver.ENVIRONMENT_STEP:
            return False
    return bool(_carried(loop, model)) and not model.nn.takes_gradient_steps(loop)


def _carried(loop: ast.For, model: SemanticModel) -> frozenset[str]:
    """Return the variables that a loop reads from the step before."""
    order = model.dataflow.order
    carried: set[str] = set()
    for node in nodes_run(loop):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) or node.id in carried:
            continue
        bindings = model.dataflow.definitions(node)
        inside = [binding for binding in bindings if is_in(binding.node, loop)]
        if (
            inside
            and len(inside) < len(bindings)
            and any(
                binding.kind is BindingKind.ASSIGN
                and binding.value is not None
                and (is_in(node, binding.value) or order.position(binding.value) > order.position(node))
                for binding in inside
            )
        ):
            carried.add(node.id)
    return frozenset(carried)


def _reads_state(call: ast.Call, loop: ast.For, model: SemanticModel) -> bool:
    """Whether an argument is computed in the loop, other than from a step of a sequence."""
    for given in (*call.args, *(keyword.value for keyword in call.keywords)):
        for name in descendants(given):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load):
                for binding in model.dataflow.definitions(name):
                    if is_in(binding.node, loop) and binding.kind is BindingKind.ASSIGN:
                        return True
    return False


def _is_stored(value: ast.expr, loop: ast.For, model: SemanticModel) -> bool:
    """Whether a value, reshaped or not, is only stored in a container that the loop does not read."""
    while True:
        around = model.parent(value)
        call = model.parent(around) if isinstance(around, ast.Attribute) else None
        if not isinstance(around, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not around:
            break
        if around.attr not in _RESHAPES:
            return False
        value = call
    match around:
        case ast.Call(func=ast.Attribute(value=ast.Name() as held, attr="append"), args=[only]):
            return only is value and _is_only_filled(held, loop, model)
        case ast.Assign(targets=[ast.Subscript(value=ast.Name() as held, slice=index)]):
            counter = loop.target.id if isinstance(loop.target, ast.Name) else ""
            by_step = any(_is_counted(part, counter) for part in axes_of(index))
            return by_step and _is_only_filled(held, loop, model)
        case ast.Assign(targets=[ast.Name() as variable]):
            reads = [
                node
                for node in nodes_run(loop)
                if isinstance(node, ast.Name) and node.id == variable.id and isinstance(node.ctx, ast.Load)
            ]
            return (
                len(reads) == 1 and not _is_before(reads[0], variable) and _is_stored(reads[0], loop, model)
            )
    return False


def _is_before(read: ast.Name, variable: ast.Name) -> bool:
    """Whether a read comes before the assignment, in the text: it has the value of the step before."""
    return (read.lineno, read.col_offset) < (variable.lineno, variable.col_offset)


def _is_counted(index: ast.expr, counter: str) -> bool:
    match index:
        case ast.Name(id=name) | ast.BinOp(left=ast.Name(id=name), right=ast.Constant()):
            return name == counter
    return False


def _is_only_filled(held: ast.Name, loop: ast.For, model: SemanticModel) -> bool:
    """Whether a container is created before the loop, which only stores in it."""
    bindings = model.dataflow.definitions(held)
    if not bindings or any(is_in(binding.node, loop) for binding in bindings):
        return False
    for node in nodes_run(loop):
        if isinstance(node, ast.Name) and node.id == held.id:
            around = model.parent(node)
            appends = isinstance(around, ast.Attribute) and around.attr == "append"
            stores = isinstance(around, ast.Subscript) and isinstance(around.ctx, ast.Store)
            if not appends and not stores:
                return False
    return True


def _is_step(argument: ast.expr, counter: str, loop: ast.For) -> bool:
    """Whether an argument is one step of a sequence that the loop leaves alone: `obs[:, t]`."""
    match argument:
        case ast.Subscript(value=ast.Name(id=held), slice=index):
            return any(_is_counted(part, counter) for part in axes_of(index)) and not any(
                isinstance(node, ast.Name) and node.id == held and not _only_reads(node)
                for node in nodes_run(loop)
            )
    return False


def _only_reads(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _is_given(name: ast.Name, function: Function, model: SemanticModel) -> bool:
    bindings = model.dataflow.definitions(name)
    return bool(bindings) and all(
        binding.kind is BindingKind.PARAMETER and binding.statement is function for binding in bindings
    )
