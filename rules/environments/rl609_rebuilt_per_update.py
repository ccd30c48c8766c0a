"""An optimizer, loss, network, process pool, loader or dataset that is created again for each update.

## What it does
Flags objects that training loops, or functions called for each update, create again from the same
arguments: optimizers (`torch.optim.Adam(net.parameters())`), loss modules (`nn.MSELoss()`), pools of
processes or threads (`Pool(n)`, `ProcessPoolExecutor()`), `DataLoader`s and datasets. Also flags networks
that each gradient step creates only to copy the weights of another one into them.

The rule does not flag objects created from values that the loop assigns or changes (a new network in each
iteration, the data of the last rollout), objects created under a condition (pools: under one that seldom
holds), and the optimizer of a function that runs a whole training with it.

## Why is it slow
A new optimizer iterates over all parameters and has no state: Adam restarts its moving averages. A module
sets up a dozen dictionaries before it computes anything. A pool starts processes and stops them again; a
process that is not forked also imports the program again. A dataset reads its files. A loss module has a low
impact, as `backward` takes far longer than its constructor.

## Example
```python
import torch
from torch import nn


def fit(net: nn.Module, states: torch.Tensor, targets: torch.Tensor, updates: int) -> None:
    for _ in range(updates):
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
        loss = nn.functional.mse_loss(net(states), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```
Use instead:
```python
import torch
from torch import nn


def fit(net: nn.Module, states: torch.Tensor, targets: torch.Tensor, updates: int) -> None:
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(updates):
        loss = nn.functional.mse_loss(net(states), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

## Fix safety
Always unsafe. An optimizer that is reused carries its averages and momentum over to the next iteration, so
training gives other weights. That is usually intended, but a restart may be deliberate. Processes of a
reused pool see the program's state at the time they were started. An object created before the loop is
created even if the loop never runs.

There is only advice in functions without the loop, for objects used in a `with` statement, and where the
statement cannot be moved as a whole.

## References
- https://docs.pytorch.org/docs/stable/optim.html
- https://docs.python.org/3/library/multiprocessing.html#multiprocessing.pool.Pool
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rlint.rule import (
    LOOPS,
    Applicability,
    Driver,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    models,
    regex,
)
from rlint.rules.environments._shared.each_pass import (
    Again,
    is_guarded,
    is_in_usual_branch,
    made_again,
)
from rlint.rules.environments._shared.moved import moved_before
from rlint.rules.environments._shared.steps import is_called_training

_REASONS = {
    "optimizer": "the optimizer keeps its averages and momentum between iterations",
    "loss": "all iterations share one loss module, created even if the loop does not run",
    "pool": "its processes are started once, and see the program's state at that time",
    "loader": "all iterations share one loader, created even if the loop does not run",
    "dataset": "all iterations share one dataset, created even if the loop does not run",
}
_COSTS = {
    "optimizer": "its state (averages, momentum) is lost each time",
    "loss": "constructing a module may take longer than computing the loss",
    "pool": "its workers are started and stopped each time",
    "loader": "its workers and samplers are set up each time",
    "dataset": "its data are read or wrapped again each time",
    "network": "its weights are initialised on the host each time, only to be overwritten",
}
_MEASURED_IN = {"optimizer": "values", "loss": "values", "loader": "imitation"}
"""The workload of the fixture that creates each."""
_SORTS = frozenset({TypeTag.OPTIMIZER, TypeTag.MODULE, TypeTag.POOL, TypeTag.LOADER, TypeTag.DATASET})
_INSERTS = models.having(Trait.INSERTS, TypeTag.LIST, TypeTag.DEQUE, TypeTag.SET, TypeTag.DICT)
_MODULE = "constructing a loss takes microseconds, and `backward` of it far longer"
_BRIEF = ("loss", "network")
"""These take no time that matters once per round of steps."""
_TRIES = regex(r"(^|_)(retry|retries|attempts?|tries)(_|$)")
_OVERWRITES = regex(
    r"(^|_)(load|copy|set|sync|synchroni[sz]e|update|assign|restore|hard|soft|transfer)(_|$)", re.IGNORECASE
)
_POOLS = regex(r"^(Thread)?Pool$|PoolExecutor$")
_SIZES = frozenset({"processes", "max_workers", "maxtasksperchild"})
_RESETS = frozenset({"load_state_dict", "apply", "reset_parameters", "init_weights", "reset_weights", "load"})


class RebuiltPerUpdate(Rule):
    code = "RL609"
    name = "rebuilt-per-update"
    claims = ("time",)
    heat = Heat.WARM
    visits = (ast.Call,)
    triggers = ("torch", "multiprocessing", "concurrent")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        what = sort_of(node, model)
        if what is None or model.frequency.heat_of(node).level < (Heat.HOT if what in _BRIEF else Heat.WARM):
            return
        again = made_again(node, model, may_leave=True, may_branch=what == "loss", likely=what == "network")
        if again is None and what == "pool":
            again = pool_of_any_size(node, model)
        if again is None or not is_often(again, what, model):
            return
        text = " ".join(model.source.text(node.func).split())
        often = (
            f"in every iteration of `{model.analysis.loops.header(again.loop)}`"
            if again.loop
            else "on every call"
        )
        fix = build_fix(again, what, model)
        where = "before the loop" if again.loop else "once, in the constructor or in the caller"
        yield self.finding(
            model,
            node,
            f"`{text}` creates the same {what} again {often}: {_COSTS[what]}",
            fix=fix,
            advice=f"Create it {where}",
            minor=_MODULE if what == "loss" else None,
            workload=_MEASURED_IN.get(what),
            assumes=again.assumes,
        )


def sort_of(call: ast.Call, model: SemanticModel) -> str | None:
    """Return what a constructor creates, if this rule covers it."""
    kind = model.types.type_of(call)
    if kind.tag not in _SORTS:
        return None
    path = model.names.qualified(call.func) or ""
    if kind.tag is TypeTag.OPTIMIZER and path.startswith("torch.optim."):
        return "optimizer"
    if kind.tag is TypeTag.MODULE and path.startswith("torch.nn.") and path.endswith("Loss"):
        return "loss"
    if kind.tag is TypeTag.MODULE and is_made(call, model):
        return "network" if is_overwritten(call, model) else None
    if kind.tag is TypeTag.POOL:
        return "pool" if _POOLS.search(last(call.func)) else None
    if kind.tag is TypeTag.LOADER and path.startswith("torch.utils.data."):
        return "loader"
    if kind.tag is TypeTag.DATASET and (path.startswith(("torch", "datasets.")) or is_made(call, model)):
        return "dataset"
    return None


def pool_of_any_size(call: ast.Call, model: SemanticModel) -> Again | None:
    """Return a pool that differs from the last one in its size at most, in a branch that runs usually."""
    if call.args[1:] or any(keyword.arg not in _SIZES for keyword in call.keywords):
        return None
    looped = model.frequency.loops(call)
    loop = looped[0] if looped else None
    around = loop or model.function(call)
    if around is None or not (loop is None or isinstance(loop, LOOPS)):
        return None
    if is_guarded(call, around, model, may_leave=True) and not is_in_usual_branch(call, model):
        return None
    return Again(call, loop if isinstance(loop, LOOPS) else None)


def last(func: ast.expr) -> str:
    """Return the last name of the callee."""
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def is_made(call: ast.Call, model: SemanticModel) -> bool:
    """Whether it is the constructor of a class of the project."""
    return (
        model.types.class_of_value(call) is not None and model.types.type_of(call.func).tag is TypeTag.CLASS
    )


def is_overwritten(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a new network is only a place for the weights of another one: they are loaded or copied into it
    (`old.load_state_dict(…)`, `self.update_model(old, weights)`), and it is neither kept nor trained.
    """
    targets = model.names.targets(call)
    if len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return False
    reads = model.names.reads(targets[0].id, model.names.scope(targets[0]))
    if any(_keeps(read, model) for read in reads):
        return False
    users = [user for read in reads if (user := _user_of(read, model)) is not None]
    if any(model.types.type_of(user).tag is TypeTag.OPTIMIZER for user in users):
        return False
    return any(_OVERWRITES.search(last(user.func)) for user in users)


def _keeps(read: ast.Name, model: SemanticModel) -> bool:
    """Whether a network is returned, stored or put into a container."""
    match model.parent(read):
        case ast.Call(func=ast.Attribute(attr=method), args=[*_, given]) if given is read:
            return method in _INSERTS
        case ast.Attribute() | ast.Call() | ast.keyword():
            return False
    return True


def _user_of(read: ast.Name, model: SemanticModel) -> ast.Call | None:
    """Return the call that a variable is an argument of, or whose method is called: `Adam(net.parameters())`,
    `net.load_state_dict(…)`.
    """
    for parent in model.ancestors(read):
        if isinstance(parent, ast.stmt):
            return None
        if isinstance(parent, ast.Call) and last(parent.func) not in ("parameters", "state_dict"):
            return parent
    return None


def tries_again(loop: ast.AST) -> bool:
    """Whether an iteration of the loop retries something that failed: `while failed and retries < 3`."""
    parts = (getattr(loop, part, None) for part in ("test", "target", "iter"))
    names = (node for part in parts if part is not None for node in descendants(part))
    return any(
        _TRIES.search((node.id if isinstance(node, ast.Name) else node.attr).lower())
        for node in names
        if isinstance(node, (ast.Name, ast.Attribute))
    )


def is_often(again: Again, what: str, model: SemanticModel) -> bool:
    """Whether it is created in training, rather than in set-up code, and not passed to code that keeps it."""
    call = again.call
    if is_returned(call, model):
        return False  # a factory, whatever calls it
    outer = model.parent(call)
    outer = model.parent(outer) if isinstance(outer, ast.keyword) else outer
    if what == "dataset" and isinstance(outer, ast.Call) and sort_of(outer, model) == "loader":
        return False  # reported with the loader
    if what == "pool" and again.loop is not None and tries_again(again.loop):
        return False
    if what == "optimizer" and starts_afresh(again.loop or model.function(call)):
        return False
    if what == "optimizer" and again.loop is None and steps_in_loop(call, model):
        return False  # each call is a training of its own
    if again.loop is None:
        if model.frequency.heat_of(call).level is not Heat.HOT and what not in ("pool", "optimizer"):
            return False
        if stored(call, model):
            return False
        if what == "pool" and is_part_of_training(call, model):
            return True
        return model.frequency.runs_each_pass(call) or model.frequency.runs_by_role(call)
    return True


def is_part_of_training(call: ast.Call, model: SemanticModel) -> bool:
    """Whether training calls the method around a call repeatedly, under conditions that are not known to
    hold seldom. A function called `main` or `train` is a whole training.
    """
    function, beat = model.function(call), model.frequency.cadence(call)
    if function is None or beat is None or model.class_of(call) is None or is_called_training(function.name):
        return False
    learns = Driver.GRADIENT_STEP in beat.drivers | beat.nested
    return learns and is_in_usual_branch(call, model) and not model.usage.is_evaluation(call)


def is_returned(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a function returns a new object, rather than what the object computes at once, as in
    `return nn.MSELoss()(values, targets)`.
    """
    child: ast.AST = call
    for node in model.ancestors(call):
        if isinstance(node, ast.Call) and node.func is child:
            return False
        if isinstance(node, ast.stmt):
            return isinstance(node, ast.Return)
        child = node
    return False


def starts_afresh(part: ast.AST | None) -> bool:
    """Whether weights are reset, so that the optimizer should be new as well."""
    return part is not None and any(
        isinstance(node, ast.Attribute) and node.attr in _RESETS for node in descendants(part)
    )


def steps_in_loop(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the function that creates an optimizer uses it in a loop."""
    return any(
        model.frequency.loops(read)
        for target in model.names.targets(call)
        if isinstance(target, ast.Name)
        for read in model.names.reads(target.id, model.names.scope(target))
    )


def stored(call: ast.Call, model: SemanticModel) -> bool:
    """Whether it is stored as an attribute or in a container, as set-up code does."""
    targets = model.names.targets(call)
    return any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets)


def build_fix(again: Again, what: str, model: SemanticModel) -> Fix | None:
    """Move it before the loop."""
    if again.loop is None or what == "network":
        return None
    wanted = "criterion" if what == "loss" else what
    edits = moved_before(again.call, again.loop, wanted, model)
    return (
        Fix(f"Create the {what} before the loop", Applicability.UNSAFE, edits, _REASONS[what])
        if edits
        else None
    )
