"""A target network overwritten with all weights of another network on every update.

## What it does
Flags a network that follows another (a target network, an old policy) and is overwritten as a whole in each
gradient or environment step: by `target.load_state_dict(net.state_dict())`, by `target =
copy.deepcopy(net)`, or by a loop over `parameters()`, or over the items of one state dict that looks up each
tensor in another (`t.copy_(net.state_dict()[name])`, which builds a state dict for each tensor).

Also flags a network, or a list or dict of networks, that hot code copies with `copy.deepcopy` into a local
variable and discards, as for a forward pass without gradients of the weights. If an argument or a setting
chooses the copy (`if detach_params:`), the finding is `likely`. Copies that may be trained themselves (MAML)
are not flagged: their function takes a gradient and leaves the weights of the copy attached.

A worker that sets the gradients of a shared network and takes over its weights after each update (A3C) is
flagged with low impact, as it needs the weights: the advice is to copy the tensors in place.

The rule does not flag copies at an interval, copies made once, the old policy of PPO (each update needs the
copy: the file clips the ratio of two policies to `1 - epsilon`), and weights that are passed to other
processes, restored, or kept for later.

## Why is it slow
`load_state_dict` builds two state dicts, compares their keys and shapes, and calls the hooks of each
module. `deepcopy` builds a new network and discards the old one. For networks of the usual size, that
overhead takes longer than copying the numbers, in each update.

## Example
```python
import torch
from torch import nn


class Agent:
    def __init__(self) -> None:
        self.online = nn.Linear(4, 2)
        self.target = nn.Linear(4, 2)
        self.optimizer = torch.optim.Adam(self.online.parameters())

    def learn(self, loss: torch.Tensor) -> None:
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.target.load_state_dict(self.online.state_dict())
```
Use instead:
```python
import torch
from torch import nn


class Agent:
    def __init__(self) -> None:
        self.online = nn.Linear(4, 2)
        self.target = nn.Linear(4, 2)
        self.optimizer = torch.optim.Adam(self.online.parameters())

    def learn(self, loss: torch.Tensor) -> None:
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        for stale, fresh in zip(self.target.state_dict().values(), self.online.state_dict().values()):
            stale.copy_(fresh)
```

## Fix safety
Always unsafe. The fix pairs the tensors of both state dicts (parameters and persistent buffers) in order,
so both networks must have the same structure. Keys and shapes are no longer compared, a smaller tensor is
broadcast, and hooks on `load_state_dict` are not called.

With `deepcopy` replaced, the target stays the same object: other references to it see the new weights, and
its mode, its gradients and all state other than tensors stay as they were.

There is no fix where the target does not exist before the copy, for `strict=False`, and for loops, which
gain little.

A target network that equals the network after each update serves no purpose. Copying every few hundred
updates, or a soft update, gains more, but changes the algorithm.

## References
- https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict
- https://pytorch.org/docs/stable/generated/torch.Tensor.copy_.html
- https://github.com/pytorch/pytorch/issues/61398
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    BindingKind,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    StateLoad,
    TypeTag,
    weight_sync,
)
from rlint.rules.networks.rl303_hard_target_copy.followers import (
    copied_value,
    exists_before,
    is_access,
    is_kept,
    is_pulled_by_worker,
    looked_up_parameters,
    paired_parameters,
)
from rlint.rules.networks.rl303_hard_target_copy.old_policies import is_old_policy
from rlint.rules.networks.rl303_hard_target_copy.temporary_copies import temporary_copy

LOADS = ("load_state_dict", "state_dict", "_load_from_state_dict")
LESS_OFTEN = "Copy every few hundred updates or use soft updates, which changes the algorithm"
IN_PLACE = f"{LESS_OFTEN}; or copy the tensors in place, without building and comparing state dicts"
KEEP_ONE = f"{LESS_OFTEN}; or build the second network once and copy the weights into it"
WITHOUT_COPY = (
    "Run the network itself on detached weights (`torch.func.functional_call`), or switch off "
    "`requires_grad_` around the use; or build the copy once, and copy the weights into it"
)
PULL = "Copy the tensors in place under `torch.no_grad()`, without building and comparing state dicts"
_OF_WORKERS = "a worker needs the weights for each update, which costs more than to copy them"
KEEP_PAIRS = f"{LESS_OFTEN}; or collect the pairs of parameters once, and copy them under `torch.no_grad()`"


class HardTargetCopy(Rule):
    code = "RL303"
    name = "hard-target-copy"
    seeds = ("S1.T4",)
    claims = ("time", "alloc")
    scales_with_network = True
    heat = Heat.WARM
    visits = (ast.Call, ast.For)
    callees = frozenset({"load_state_dict", "deepcopy"})
    triggers = ("load_state_dict", "deepcopy", "copy_")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        if isinstance(node, ast.For):
            yield from self.check_loop(node, model)
        elif isinstance(node, ast.Call):
            loaded = weight_sync.loaded_state(node, model)
            if loaded is not None:
                yield from self.check_load(loaded, model)
            elif model.names.qualified(node.func) == "copy.deepcopy":
                found = list(self.check_deepcopy(node, model))
                yield from found or self.check_temporary(node, model)

    def check_load(self, loaded: StateLoad, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `target.load_state_dict(net.state_dict())`, with or without a copy in
        between.
        """
        copied = weight_sync.copied_state(loaded.given, model)
        owner = copied.owner if copied else weight_sync.state_owner(loaded.given, model)
        if owner is None:
            return
        target, source = model.source.text(loaded.target), model.source.text(owner)
        if not weight_sync.is_follower(loaded.target, owner, model):
            if not copied and is_pulled_by_worker(loaded.call, loaded.target, owner, model):
                yield from self.check_worker(loaded, target, source, model)
            return
        if is_old_policy(loaded.target, owner, model) or not is_per_step(loaded.call, model):
            return
        message = f"`{target}` copies all weights of `{source}` on every update, through two state dicts"
        tensors = f"{source}.state_dict()"
        if isinstance(loaded.argument, ast.Name) and not copied:
            tensors = loaded.argument.id
        fix = None
        if loaded.strict is not False and not (copied and loaded.given is not loaded.argument):
            fix = copy_fix(loaded.call, loaded.target, owner, tensors, model)
        yield self.finding(model, loaded.call, message, fix=fix, advice=IN_PLACE)

    def check_worker(
        self, loaded: StateLoad, target: str, source: str, model: SemanticModel
    ) -> Iterator[Finding]:
        """Yield a finding for a worker that takes over the shared weights after each update."""
        call = loaded.call
        if model.frequency.heat_of(call).level < Heat.WARM or not model.frequency.runs_each_pass(call):
            return
        yield self.finding(
            model,
            call,
            f"`{target}` takes over all weights of `{source}` for every update, through two state dicts",
            advice=PULL,
            minor=_OF_WORKERS,
        )

    def check_deepcopy(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `target = copy.deepcopy(net)`."""
        statement = model.syntax.statement(call)
        match statement, call:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=value), ast.Call(
                args=[source], keywords=[]
            ) if copied_value(value) is call:
                pass
            case _:
                return
        if (
            not weight_sync.is_network(source, model)
            or not weight_sync.is_follower(target, source, model)
            or is_kept(target, model)
        ):
            return
        if is_made_with_its_owner(target, model) or is_newly_made(source, call, model):
            return
        if is_old_policy(target, source, model):
            return
        if model.frequency.heat_of(call).level < Heat.WARM or not model.frequency.runs_each_pass(call):
            return
        new, old = model.source.text(source), model.source.text(target)
        message = (
            f"`{model.source.text(call.func)}` rebuilds `{old}` with all weights of `{new}` on every update"
        )
        fix = None
        if value is call and exists_before(target, statement, model):
            fix = copy_fix(call, target, source, f"{new}.state_dict()", model)
        yield self.finding(model, call, message, fix=fix, advice=KEEP_ONE)

    def check_temporary(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `net = copy.deepcopy(self.net)` in each step, if the copy is not kept."""
        copied = temporary_copy(call, model)
        if copied is None or is_newly_made(copied.source, call, model):
            return
        text = model.source.text(copied.source)
        assumes = f"a caller makes `{copied.guards[0].text}` true" if copied.guards else None
        message = (
            f"`{model.source.text(call.func)}` builds a second network from `{text}` in every step, which is "
            "discarded after use"
        )
        yield self.finding(model, call, message, advice=WITHOUT_COPY, assumes=assumes)

    def check_loop(self, loop: ast.For, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `for t, p in zip(target.parameters(), net.parameters()):
        t.data.copy_(p.data)`.
        """
        pair, looked_up = paired_parameters(loop, model), looked_up_parameters(loop)
        found = pair or looked_up
        if found is None:
            return
        target, source = found
        if not weight_sync.is_follower(target, source, model) or not is_per_step(loop, model):
            return
        if is_old_policy(target, source, model):
            return
        old, new = model.source.text(target), model.source.text(source)
        how = (
            "in a Python loop that builds a state dict for each of them"
            if looked_up
            else "in a Python loop over the parameters"
        )
        message = f"`{old}` copies all weights of `{new}` on every update, {how}"
        yield self.finding(model, loop, message, advice=KEEP_PAIRS)


def is_made_with_its_owner(target: ast.expr, model: SemanticModel) -> bool:
    """Whether the second network is created for the first time, in a constructor, however often that runs."""
    function = model.function(target)
    return function is not None and function.name in ("__init__", "__post_init__", "__new__")


def is_newly_made(source: ast.expr, call: ast.Call, model: SemanticModel) -> bool:
    """Whether the copied network is new itself, created in the same call of the function and the same
    iteration of its loops. Then a training begins, however often that happens.
    """
    if not isinstance(source, ast.Name):
        return False
    made = model.dataflow.definitions(source)
    return bool(made) and all(
        binding.kind is BindingKind.ASSIGN
        and binding.value is not None
        and isinstance(value := copied_value(binding.value), ast.Call)
        and model.names.qualified(value.func) != "copy.deepcopy"
        and model.types.type_of(value).tag is TypeTag.MODULE
        and model.function(binding.node) is model.function(call)
        and model.frequency.loops(binding.node) == model.frequency.loops(call)
        for binding in made
    )


def is_per_step(node: ast.AST, model: SemanticModel) -> bool:
    """Whether the copy runs in each step, without a condition."""
    return model.frequency.heat_of(node).level is Heat.HOT and model.frequency.runs_each_pass(node)


def copy_fix(
    call: ast.Call, target: ast.expr, source: ast.expr, tensors: str, model: SemanticModel
) -> Fix | None:
    """Copy tensor by tensor, in place of the statement that consists of the call."""
    statement = model.syntax.statement(call)
    assigned = isinstance(statement, ast.Assign) and statement.targets == [target]
    if not assigned and not (isinstance(statement, ast.Expr) and statement.value is call):
        return None
    if not (is_access(target) and is_access(source)):
        return None
    names = {model.types.type_of(network).of for network in (target, source)}
    classes = {name for name in names if name and "{" not in name}
    if not assigned and len(classes) == 2:
        return None  # constructed differently: the tensors may not correspond
    stale, fresh = model.importer.fresh_name("stale"), model.importer.fresh_name("fresh")
    indent = model.source.indent_unit(statement)
    edit = model.edit.replace_statement(
        statement,
        (
            f"for {stale}, {fresh} in zip({model.source.text(target)}.state_dict().values(), "
            f"{tensors}.values()):"
        ),
        f"{indent}{stale}.copy_({fresh})",
    )
    if edit is None:
        return None
    ours, other = model.source.text(target), model.source.text(source)
    overridden = model.types.may_override(target, *LOADS) or model.program.customizes_state_dicts()
    reason = f"`{ours}` and `{other}` must have the same architecture: keys and shapes are no longer compared"
    if assigned:
        reason = (
            f"`{ours}` must have the architecture of `{other}`, and stays the same object with its "
            f"own gradients"
        )
    elif overridden:
        reason += "; an overridden `load_state_dict` or `state_dict`, or its hooks, are no longer called"
    return Fix("Copy the tensors in place", Applicability.UNSAFE, (edit,), reason)
