"""Weights copied to the host for other networks or processes, tensor by tensor.

## What it does
Flags `shared.load_state_dict({k: v.cpu() for k, v in net.state_dict().items()})` and
`target.copy_(source.cpu())` in code that runs repeatedly, where `load_state_dict` and `copy_` copy anyway.
The dict may be written in the call, or assigned to a variable that is used for nothing else. If a loop fills
the dict, there is only advice.

Also flags a dict of weights that each gradient step copies to the host to return, store or send it: `return
{k: v.cpu() for k, v in self.net.state_dict().items()}`. The same goes for loops that copy one weight
after the other (`queue.put((name, weight.cpu()))`), functions that are mapped over the weights, and
`copy.deepcopy(net).cpu()`. Actors read weights less often than they change.

A network that is moved to the host and back for its weights (`weights = net.cpu().state_dict()`, then
`net.cuda()`) is reported in code that runs repeatedly: copies of the weights go one way only.

The rule does not flag:

- weights that are saved, sent or kept at intervals, or once per round;
- `assign=True`, which keeps the loaded tensors themselves;
- keys that are renamed or filtered;
- clones, which `cloned-state-dict` covers.

## Why is it slow
`load_state_dict` copies each tensor into the existing parameter, whatever device the tensor is on. With
`.cpu()`, each tensor is first copied to newly allocated host memory and then copied again, whenever a
learner publishes its weights. On the CPU, `.cpu()` returns the tensor itself, so only the calls are saved.

Each `.cpu()` also synchronises with the device: the weights of a network with 30 tensors are 30 waits in
every step.

To gain more, allocate a set of pinned tensors once, copy to them with `non_blocking=True`, synchronise
once, and load them.

## Example
```python
from torch import nn


def train(network: nn.Module, shared: nn.Module, optimizer, batches) -> None:
    for batch in batches:
        network(batch).mean().backward()
        optimizer.step()
        state = {k: v.cpu() for k, v in network.state_dict().items()}
        shared.load_state_dict(state)
```

Use instead:

```python
from torch import nn


def train(network: nn.Module, shared: nn.Module, optimizer, batches) -> None:
    for batch in batches:
        network(batch).mean().backward()
        optimizer.step()
        state = {k: v for k, v in network.state_dict().items()}
        shared.load_state_dict(state)
```

## Fix safety
The fix only removes the move. A comprehension stays a comprehension, because the plain `state_dict()` also
carries version metadata that modules may read while loading.

Safe where both networks are created in the same code, so that they share no weights (each by its own
constructor, or one as a deep copy of the other), and where nothing can change the weights between the two
statements.

Unsafe in these cases:

- The networks come from elsewhere. They may share weights, and a target that is not a `torch.nn.Module` may
  keep the tensors that it is given.
- A module of the project has a `get_extra_state`, which need not return a tensor.
- A module of the project overrides `state_dict` or `load_state_dict`, or changes what it loads.
- The call is `copy_`, whose tensors must not overlap.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.copy_.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    Driver,
    Finding,
    Fix,
    GuardKind,
    Heat,
    Rule,
    SemanticModel,
    StateLoad,
    TypeTag,
    descendants,
    last_name,
    made_networks,
    torch_settings,
    weight_sync,
)
from rlint.rules.transfers.rl203_blocking_publish.moved_and_back import moved_back
from rlint.rules.transfers.rl203_blocking_publish.moved_weights import moved_one_by_one
from rlint.rules.transfers.rl203_blocking_publish.published import (
    Moved,
    filled_by_loop,
    move_in,
    moved_state,
    moved_weights,
)


class BlockingPublish(Rule):
    code = "RL203"
    name = "blocking-publish"
    seeds = ("S2.2",)
    claims = ("time:cuda",)
    heat = Heat.WARM
    visits = (ast.Call, ast.DictComp, ast.ListComp)
    callees = frozenset({"load_state_dict", "copy_", "cpu", "to"})

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        if isinstance(node, (ast.DictComp, ast.ListComp)):
            yield from self.check_published(node, model)
            return
        assert isinstance(node, ast.Call)
        match node.func:
            case ast.Attribute(attr="load_state_dict"):
                yield from self.check_load(node, model)
            case ast.Attribute(value=target, attr="copy_"):
                yield from self.check_copy(node, target, model)
            case ast.Attribute(attr="cpu" | "to"):
                yield from self.check_moved(node, model)

    def check_load(self, node: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the state that a network loads."""
        loaded = weight_sync.loaded_state(node, model)
        if loaded is None or weight_sync.copied_state(loaded.given, model) is not None:
            return
        moved = moved_state(loaded.given, model)
        by_hand = moved is None
        moved = moved or filled_by_loop(loaded.argument, node, model)
        if moved is None or ast.dump(moved.owner) == ast.dump(loaded.target):
            return
        yield self.finding(
            model,
            moved.node,
            f"`{moved.shown}` copies each tensor of `{model.source.text(moved.owner)}` to temporary host "
            f"memory, though `load_state_dict` copies from any device",
            fix=None if by_hand else build_fix(moved, doubt(loaded, moved.owner, model), model),
            advice="Pass the tensors of `state_dict()` directly",
        )

    def check_published(self, node: ast.DictComp | ast.ListComp, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the weights that each gradient step copies to the host."""
        moved = moved_weights(node, model)
        if moved is None or model.frequency.heat_of(node).level is not Heat.HOT:
            return
        if is_loaded(node, model):
            return
        if not is_each_gradient_step(node, model):
            return
        yield self._published(node, node, moved.shown, moved.owner, model)

    def check_moved(self, node: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the weights that each gradient step copies to the host in another form, and for
        a network that is moved there and back.
        """
        back = moved_back(node, model)
        if back is not None and model.frequency.heat_of(node).level >= self.heat:
            assert isinstance(node.func, ast.Attribute)
            network = model.source.text(node.func.value)
            yield self.finding(
                model,
                node,
                f"`{network}` is moved to the host and, in line {model.span_of(back)[0].line}, back to the "
                f"device, only to read its weights: both moves copy every tensor, one after the other",
                advice=f"Copy the weights, and leave the network: `{{name: part.cpu() for name, part in "
                f"{network}.state_dict().items()}}`",
                related=[(back, "moved back here")],
            )
            return
        found = moved_one_by_one(node, model)
        if found is None or model.frequency.heat_of(node).level is not Heat.HOT:
            return
        around = found.around
        if isinstance(around, (ast.DictComp, ast.ListComp)) and moved_weights(around, model) is not None:
            return
        if isinstance(around, ast.expr) and is_loaded(around, model):
            return
        if isinstance(around, ast.For) and fills_loaded(around, model):
            return
        if not is_each_gradient_step(around.iter if isinstance(around, ast.For) else around, model):
            return
        yield self._published(node, around, found.move.shown, found.owner, model)

    def _published(
        self, node: ast.expr, around: ast.AST, shown: str, owner: ast.expr, model: SemanticModel
    ) -> Finding:
        return self.finding(
            model,
            around if isinstance(around, ast.expr) else node,
            f"`{shown}` copies each tensor of `{model.source.text(owner)}` to the host in every "
            f"gradient step, and each synchronises with the device",
            advice="Publish the weights every few steps, as one tensor: "
            "`torch.nn.utils.parameters_to_vector(...)`",
        )

    def check_copy(self, node: ast.Call, target: ast.expr, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the source of a copy into a tensor."""
        if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
            return
        moved = move_in(node.args[0], model)
        if moved is None or names_in(target) & names_in(moved.owner):
            return
        if model.types.type_of(target).tag not in (TypeTag.TENSOR, TypeTag.UNKNOWN):
            return
        yield self.finding(
            model,
            node,
            f"`{moved.shown}` copies the tensor to temporary host memory, though `copy_` copies from any "
            f"device",
            fix=build_fix(moved, "the two tensors must not overlap", model),
            advice="Copy directly from the tensor",
        )


def is_each_gradient_step(node: ast.AST, model: SemanticModel) -> bool:
    """Whether each gradient step runs a node, under no condition that holds only for some of them."""
    beat = model.frequency.cadence(node)
    if beat is None or Driver.GRADIENT_STEP not in beat.drivers:
        model.silent("no gradient step is known to copy {}", node)
        return False
    return all(guard.is_usual or guard.kind is GuardKind.OTHER for guard in beat.guards)


def fills_loaded(loop: ast.For, model: SemanticModel) -> bool:
    """Whether the function of a loop loads a state, which the loop may fill."""
    function = model.function(loop)
    return function is not None and any(
        isinstance(call, ast.Call) and last_name(call.func) == "load_state_dict"
        for call in descendants(function)
    )


def is_loaded(state: ast.expr, model: SemanticModel) -> bool:
    """Whether a dict is passed to `load_state_dict`, itself or through a variable."""
    uses = model.dataflow.uses(state)
    return any(isinstance(use.at, ast.Call) and last_name(use.at.func) == "load_state_dict" for use in uses)


def names_in(expression: ast.expr) -> set[str]:
    """Return the variables of an expression."""
    return {node.id for node in descendants(expression) if isinstance(node, ast.Name) and node.id != "self"}


def build_fix(moved: Moved, reason: str | None, model: SemanticModel) -> Fix | None:
    """Replace the move by its receiver."""
    if not model.edit.is_relocatable(moved.node):
        return None
    edit = model.edit.replace(moved.node, model.edit.parenthesized(moved.original))
    safety = Applicability.UNSAFE if reason else Applicability.SAFE
    return Fix("Remove the copy to the host", safety, (edit,), reason)


def doubt(loaded: StateLoad, source: ast.expr, model: SemanticModel) -> str | None:
    """Return the condition of the fix; None if it is safe."""
    if model.index.defines_method("get_extra_state"):
        return f"the extra state of a module in `{model.source.text(loaded.target)}` need not be a tensor"
    if model.program.sets(torch_settings.META):
        return "tensors on the device `meta` raise another error: they cannot be copied"
    reason: str | None = made_networks.loading_doubt(loaded.target, source, model)
    return reason
