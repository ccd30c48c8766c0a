"""A tensor made in host memory only to be moved to the device at once.

## What it does
Flags torch's constructors in hot code whose tensor goes to a device in the same expression or as soon as it
has a name: `torch.zeros(n).to(device)`, `torch.tensor(reward).unsqueeze(0).cuda()`, `mask = torch.ones(n)`
and then `mask = mask.to(device)`.

## Why is it slow
The tensor is allocated and filled on the host, then copied over the bus, and the program waits for the copy.
With `device=` the numbers are made where they are used, and the program goes on at once. Data that the
program holds (`torch.tensor(rewards)`) has to be copied either way; there `device=` saves the copy within
host memory where an array is given, and little more than a call where a list is.

On the CPU, `.to(device)` returns the same tensor: nothing is gained there but the call.

## Example
```python
import torch


def rollout(env, policy, device: torch.device, steps: int):
    state = env.reset()
    for _ in range(steps):
        mask = torch.zeros(64, 18).to(device)
        state = env.step(policy(state, mask))
    return state
```

Use instead:

```python
import torch


def rollout(env, policy, device: torch.device, steps: int):
    state = env.reset()
    for _ in range(steps):
        mask = torch.zeros(64, 18, device=device)
        state = env.step(policy(state, mask))
    return state
```

## Fix safety
The fix hands `device=` to the constructor and drops the move. It is safe where the target is a device for
certain (`"cuda"`, a `torch.device`, a parameter that is annotated so) and the constructor gives the same
numbers everywhere. It is unsafe

- where only the name of a variable says that it holds a device: `.to()` takes a data type or a tensor, too;
- for random numbers, since each device draws from a stream of its own;
- for what is rounded: fractions in `arange` and `linspace`, arithmetic, conversions between types;
- for `torch.FloatTensor(data)` and its kin, which know no `device=` and become `torch.as_tensor`.

Left alone are tensors that need a gradient, are pinned, or draw from a generator of the host; tensors that
are written to between the two steps; data that is moved with `non_blocking=True`; moves to the CPU; and
programs that set torch's default device.

## References
- https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#create-tensors-directly-on-the-target-device
- https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Finding, Heat, Rule, SemanticModel, legacy_tensors
from rlint.rules.transfers._shared.made import (
    LEGACY,
    DeviceMove,
    MadeTensor,
    is_data,
    made_before,
    made_by,
    move_of,
)
from rlint.rules.transfers.rl205_create_then_move.make_there import build_fix

DEFAULT_DEVICE = ("set_default_device", "set_default_tensor_type")


class CreateThenMove(Rule):
    code = "RL205"
    name = "create-then-move"
    seeds = ("S0.2", "S4.mem")
    claims = ("time:cuda", "sync:cuda")
    heat = Heat.HOT
    visits = (ast.Call,)
    callees = frozenset({"to", "cuda"})

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in ("to", "cuda"):
            return
        move = move_of(node, model)
        if move is None or model.frequency.heat_of(node).level < self.heat:
            return
        binding = made_before(move.source, node, model) if isinstance(move.source, ast.Name) else None
        made = made_by(binding.value if binding and binding.value else move.source, model)
        if made is None or model.program.mentions(*DEFAULT_DEVICE):
            return
        if legacy_tensors.has_device_around(node, model):
            return
        data = [call for call in made.calls if is_data(call, model)]
        if data and move.goes_on:
            return  # `device=` would wait for the copy
        yield self.finding(
            model,
            node,
            message(move, made, data, model),
            fix=build_fix(move, made, binding.statement if binding else None, model),
            advice=advice(made, data, model),
        )


def message(move: DeviceMove, made: MadeTensor, data: list[ast.Call], model: SemanticModel) -> str:
    """What is made, and where it goes."""
    constructor = model.source.text(made.calls[0].func)
    assert isinstance(move.call.func, ast.Attribute)
    shown = f".{move.call.func.attr}({model.source.text(move.device) if move.device is not None else ''})"
    if "\n" in shown:
        shown = f".{move.call.func.attr}()"
    if data:
        return (
            f"`{constructor}` copies its data within host memory before `{shown}` copies them to the device"
        )
    return f"`{constructor}` fills host memory, and the program waits while `{shown}` copies it"


def advice(made: MadeTensor, data: list[ast.Call], model: SemanticModel) -> str:
    """What to write instead."""
    old = [call for call in made.calls if model.names.qualified(call.func) in LEGACY]
    if old and data:
        dtype = LEGACY[model.names.qualified(old[0].func) or ""]
        return f"Make it there: `torch.as_tensor(..., dtype={dtype}, device=...)`"
    if old:
        return "Make it there: `torch.empty(..., device=...)`"
    return f"Make it there: `{model.source.text(made.calls[0].func)}(..., device=...)`"
