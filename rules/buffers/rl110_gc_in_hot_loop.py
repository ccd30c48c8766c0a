"""A full garbage collection, or an emptied device memory cache, in every iteration of a loop.

## What it does
Flags `gc.collect()` and `torch.cuda.empty_cache()` (also of `mps`, `xpu` and others) where they run in
every iteration of a training loop: per environment step, gradient step, episode or epoch. The call may be
in a helper function or under `if torch.cuda.is_available()`; under a setting (`if self.args.free_cache`) it
is likely. Loops over samples or batches that run a network count as well, wherever they are called from:
evaluation and inference (with a low impact), also after a `del` of the sample's tensors.

The rule does not flag:

- calls at an interval, after a check of the memory in use, or in an `except` block;
- trials of what fits into memory, which catch `OutOfMemoryError` and take no step of an optimizer;
- calls once per epoch or phase directly after a `del`;
- calls once per round in programs for language models, where generation and training take turns (in each of
  their steps, the impact is low);
- calls where a model is moved, put to sleep, loaded, saved or used for generation;
- loops over the variants of an experiment (`for seed in seeds`);
- collections of the young generations only (`gc.collect(0)`);
- code that runs once.

## Why is it slow
`gc.collect()` scans every container object of the process, including those of imported libraries and of a
replay buffer, to find the few in reference cycles. All other objects, and the memory of their tensors, are
freed without it, as soon as nothing refers to them.

`torch.cuda.empty_cache()` synchronises with the device and releases all cached blocks. The next iteration
has to allocate them from the driver again. It does not increase the memory available to PyTorch, which
reuses cached blocks before it allocates new ones.

## Example
```python
import gc

import torch


def train(network, optimizer, loader):
    for observations, targets in loader:
        loss = (network(observations) - targets).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        gc.collect()
        torch.cuda.empty_cache()
```
Use instead:
```python
import gc

import torch


def train(network, optimizer, loader):
    for observations, targets in loader:
        loss = (network(observations) - targets).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

## Fix safety
Unsafe: the fix removes the call. Objects in a reference cycle, and the memory of their tensors, then live
until Python collects them by itself, and their finalizers run later. Other processes cannot use the memory
that PyTorch caches on the device. A fragmented cache may run out of memory earlier; if that happens, empty
it once after the loop or on an out-of-memory error.

There is only advice where the result of the call is used, and for a helper function that does nothing else,
because it may have other callers that need it. The fix keeps the import.

## References
- https://docs.python.org/3/library/gc.html#gc.collect
- https://docs.pytorch.org/docs/stable/generated/torch.cuda.memory.empty_cache.html
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rlint.rule import (
    FUNCTIONS,
    Applicability,
    Driver,
    Finding,
    Fix,
    GuardKind,
    Heat,
    Rule,
    SemanticModel,
    TypeTag,
    descendants,
    last_names,
    regex,
    trip_count,
    vocabulary,
)

COLLECTS = "gc.collect"
EMPTIES = frozenset(
    f"torch.{place}.empty_cache"
    for place in "accelerator cuda cuda.memory hpu mlu mps mps.memory musa npu xpu xpu.memory".split()
)
# calls that change the use of memory: a model is moved, put to sleep, woken up, loaded, saved or freed
_CHANGES_HANDS = regex(
    r"offload|onload|unload|reload|sleep|wake|(^|_)(free|release|destroy|shutdown|close|terminate)|kv_cache"
    r"|(^|_)to_cpu|from_pretrained|load_state|load_model|save|checkpoint|generat|rollout|merge|weights"
)
_MOVES = regex(
    r"offload|onload|unload|reload|sleep|wake|(^|_)(release|destroy|shutdown|terminate)|(^|_)to_cpu"
    r"|from_pretrained|load_state|load_model|merge|weights"
)
"""Those of them that change which models are on the device."""
_CREATES = regex(r"from_pretrained|load_model|load_checkpoint|^build_model|^make_model|^create_model")
_FEW_WORDS = 4
# calls beside them
_ACCOMPANY = regex(r"(^|\.)(synchronize|barrier|ipc_collect|info|debug|print|reset_peak_memory_stats)$")
_NO_MEMORY = "OutOfMemoryError"
LOST = {
    "garbage": "objects in reference cycles are freed only when Python's automatic collection runs",
    "cache": "memory cached by PyTorch is not available to other processes",
}
"""The condition of the fix, by what is no longer cleared."""


class GcInHotLoop(Rule):
    code = "RL110"
    name = "gc-in-hot-loop"
    seeds = ("S1.M1",)
    claims = ("time",)
    heat = Heat.COLD
    visits = (ast.Call,)
    callees = last_names(*EMPTIES, COLLECTS)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        what = model.names.qualified(node.func)
        if what not in EMPTIES and (what != COLLECTS or _is_partial(node)):
            return
        anchor = _guarded(model.syntax.statement(node), model)
        often, setting = _runs_often(anchor, model), None
        if not often:
            setting = _setting_around(anchor, model)
            often = setting is not None and _runs_often(setting, model)
        if _in_handler(anchor, model) or _tries_sizes(anchor, model):
            return
        # beside each forward pass, blocks are released that the next one allocates again
        is_wasted = is_per_item(anchor, model) and not moves_model(anchor, model)
        if not is_wasted and (not often or has_reason(anchor, model)):
            return
        shown = f"{what.replace('.memory', '')}()"
        cost = (
            "scans every container object of the process"
            if what == COLLECTS
            else "releases device memory that is allocated again right away"
        )
        loops = model.frequency.loops(anchor)
        function = model.function(node)
        where = f"on every call of `{getattr(function, 'name', '')}`"
        if loops:
            where = f"in every iteration of `{model.analysis.loops.header(loops[0])}`"
        freed = "PyTorch reuses cached memory"
        if what == COLLECTS:
            freed = "Python frees all objects except reference cycles"
        yield self.finding(
            model,
            node,
            f"`{shown}` {cost}, {where}",
            fix=build_fix(node, anchor, model),
            advice=f"Remove it, since {freed} without it, or call it once after the loop",
            assumes=f"`{model.source.text(setting.test)}` is on" if setting is not None and often else None,
            only_on=("cuda",) if what in EMPTIES else (),
        )


def _runs_often(anchor: ast.stmt, model: SemanticModel) -> bool:
    """Whether a statement runs in each iteration of a training loop, or in each call of a hot function."""
    return model.frequency.heat_of(anchor).level is not Heat.COLD and (
        model.frequency.runs_each_pass(anchor) or model.frequency.runs_by_role(anchor)
    )


def _setting_around(anchor: ast.stmt, model: SemanticModel) -> ast.If | None:
    """Return the condition around a statement that asks only for a setting: `if self.args.free_cache:`. The
    settings of one run do not change, so the call runs in each iteration or never.
    """
    around = model.parent(anchor)
    if (
        not isinstance(around, ast.If)
        or anchor not in around.body
        or not isinstance(around.test, ast.Attribute)
    ):
        return None
    outside = model.frequency.conditions(around)
    inside = [guard for guard in model.frequency.conditions(anchor) if guard not in outside]
    return around if inside and all(guard.kind is GuardKind.SWITCH for guard in inside) else None


def _tries_sizes(anchor: ast.stmt, model: SemanticModel) -> bool:
    """Whether the code finds out what fits into memory: it takes no step of an optimizer, and it, or a
    function that the loop around it calls, catches `OutOfMemoryError`. Each trial needs an empty cache.
    """
    around = model.function(anchor)
    if model.names.calls_named("step", around):
        return False
    tried: list[ast.AST] = [] if around is None else [around]
    for loop in model.frequency.loops(anchor)[:1]:
        for call in descendants(loop):
            if isinstance(call, ast.Call):
                tried += filter(None, map(model.types.definition, model.types.call_targets(call)))
    return any(
        isinstance(node, ast.ExceptHandler)
        and node.type is not None
        and _NO_MEMORY in model.source.text(node.type)
        for function in tried
        for node in descendants(function)
    )


def is_per_item(anchor: ast.stmt, model: SemanticModel) -> bool:
    """Whether a statement runs in each iteration of a loop over samples or batches, which runs a network."""
    loops = model.frequency.loops(anchor)
    if not loops or model.analysis.loops.is_bounded(loops[0]) or trip_count.over_settings(loops[0], model):
        return False
    match loops[0]:
        case ast.For(target=ast.Name(id="_")) | ast.While():
            return False  # rounds or epochs, rather than items
    if not model.frequency.runs_each_pass(anchor, innermost=True):
        return False
    return model.once(_runs_network, loops[0])


def _runs_network(loop: ast.AST, model: SemanticModel) -> bool:
    found = False
    for node in descendants(loop):
        match node:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
                if _CREATES.search(name.lower()):
                    return False  # a loop over models
                if model.frequency.loops(node)[:1] == [loop]:
                    found = found or _is_forward(node, name, model)
    return found


def _is_forward(call: ast.Call, name: str, model: SemanticModel) -> bool:
    """Whether a call runs a network, by its type or by its name: `model(ids)`, `model.generate(ids)`."""
    if model.types.type_of(call.func).tag is TypeTag.MODULE:
        return True
    words = name.lower().split("_")
    if isinstance(call.func, ast.Attribute) and not vocabulary.GENERATES.isdisjoint(words):
        return True
    is_called = not vocabulary.NETWORKS.isdisjoint(words) and not model.types.call_targets(call)
    return is_called and model.types.type_of(call.func).tag is TypeTag.UNKNOWN and len(words) < _FEW_WORDS


def moves_model(anchor: ast.stmt, model: SemanticModel) -> bool:
    """Whether a statement beside this one moves, loads or deletes a model."""
    block, index = model.syntax.block(anchor)
    learns = any(
        isinstance(node, ast.Attribute) and node.attr == "backward"
        for node in descendants(model.frequency.loops(anchor)[0])
    )
    names = _CHANGES_HANDS if learns else _MOVES  # generation and training may take turns
    for neighbours in (reversed(block[:index]), block[index + 1 :]):
        for statement in neighbours:
            if isinstance(statement, ast.Delete) and any(
                model.types.type_of(target).tag in (TypeTag.MODULE, TypeTag.OPTIMIZER)
                or not vocabulary.NETWORKS.isdisjoint(model.source.text(target).lower().split("_"))
                for target in statement.targets
            ):
                return True
            if changes_hands(statement, model, names):
                return True
            if not _accompanies(statement, model):
                break
    return False


def has_reason(anchor: ast.stmt, model: SemanticModel) -> bool:
    """Whether neighbouring or enclosing code shows why the memory must be freed at this place."""
    warm = model.frequency.heat_of(anchor).level is not Heat.HOT
    if any(trip_count.over_settings(loop, model) for loop in model.frequency.loops(anchor)[:1]):
        return True
    if warm and model.program.uses_language_models():
        return True  # generation and training alternate on the device, and a round takes minutes
    if warm and Driver.GENERATION in model.frequency.drivers(anchor):
        return True
    block, index = model.syntax.block(anchor)
    for neighbours in (reversed(block[:index]), block[index + 1 :]):
        for statement in neighbours:
            if warm and isinstance(statement, ast.Delete):
                return True
            now_and_then = isinstance(statement, ast.If) and not model.types.tests_device(statement.test)
            if not warm and now_and_then:
                break  # a save at intervals does not explain a call in each step
            if changes_hands(statement, model):
                return True
            if not _accompanies(statement, model):
                break
    return False


def changes_hands(statement: ast.stmt, model: SemanticModel, names: re.Pattern[str] = _CHANGES_HANDS) -> bool:
    """Whether a model is moved off its device, put to sleep, loaded, saved or freed here."""
    for node in descendants(statement):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="cpu" | "to")):
                moved = [*node.args, *(keyword.value for keyword in node.keywords)]
                to_host = not moved or (isinstance(moved[0], ast.Constant) and moved[0].value == "cpu")
                if to_host and model.types.type_of(owner).tag in (TypeTag.MODULE, TypeTag.OPTIMIZER):
                    return True
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
                if names.search(name.lower()):
                    return True
    return False


def build_fix(call: ast.Call, anchor: ast.stmt, model: SemanticModel) -> Fix | None:
    """Delete the statement, with an enclosing condition that only tests the device."""
    statement, function = model.parent(call), model.function(call)
    if not isinstance(statement, ast.Expr):
        return None
    if function is not None and all(_accompanies(each, model) for each in function.body):
        return None  # a helper only for this
    block = model.syntax.block(statement)[0]
    removed: list[ast.stmt] = [statement]
    if all(_cleared_by(each, model) for each in block):
        removed = [anchor] if isinstance(anchor, ast.If) else list(block)
    edits = model.edit.delete_statements(removed)
    if edits is None:
        return None
    cleared = {_cleared_by(node, model) for each in removed for node in descendants(each)}
    reason = "; ".join(why for what, why in LOST.items() if what in cleared)
    return Fix("Remove the call", Applicability.UNSAFE, tuple(edits), reason=reason)


def _guarded(statement: ast.stmt, model: SemanticModel) -> ast.stmt:
    """Return the statement, or the enclosing condition that only tests the device."""
    while True:
        parent = model.parent(statement)
        if not isinstance(parent, ast.If) or statement not in parent.body:
            return statement
        if not model.types.tests_device(parent.test) or (parent.orelse and not _is_elif(parent, model)):
            return statement
        statement = parent


def _is_elif(guard: ast.If, model: SemanticModel) -> bool:
    """Whether a statement is an `elif torch.backends.mps.is_available()` or follows one."""
    return all(isinstance(other, ast.If) and model.types.tests_device(other.test) for other in guard.orelse)


def _in_handler(statement: ast.stmt, model: SemanticModel) -> bool:
    for parent in model.ancestors(statement):
        if isinstance(parent, ast.ExceptHandler):
            return True
        if isinstance(parent, FUNCTIONS):
            return False
    return False


def _is_partial(call: ast.Call) -> bool:
    """Whether a call collects only the young generations, which takes little time."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return bool(given) and not (isinstance(given[0], ast.Constant) and given[0].value == 2)


def _cleared_by(statement: ast.AST, model: SemanticModel) -> str | None:
    """Return what a statement clears, "garbage" or "cache", if it does nothing else."""
    match statement:
        case ast.Expr(value=ast.Call(func=func) as call):
            what = model.names.qualified(func)
            if what in EMPTIES:
                return "cache"
            return "garbage" if what == COLLECTS and not _is_partial(call) else None
    return None


def _accompanies(statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether a statement is another such call, a condition around one, or one that waits or prints: not work
    of the loop itself.
    """
    match statement:
        case ast.Expr(value=ast.Call(func=func)):
            called = model.names.qualified(func) or f".{getattr(func, 'attr', '')}"
            return bool(_cleared_by(statement, model)) or bool(_ACCOMPANY.search(called))
        case ast.If(test=test, body=body, orelse=orelse):
            parts = [*body, *orelse]
            return model.types.tests_device(test) and all(_accompanies(part, model) for part in parts)
        case ast.Delete() | ast.Pass() | ast.Import() | ast.Expr(value=ast.Constant()):
            return True
    return False
