"""A tensor created in host memory and immediately moved to the device.

## What it does
Flags tensors in hot code that a torch constructor creates in host memory and that are moved to a device in
the same expression or in the next use: `torch.zeros(n).to(device)`,
`torch.tensor(reward).unsqueeze(0).cuda()`, `mask = torch.ones(n)` followed by `mask = mask.to(device)`. The
move may be guarded by a test of the device (`if x.is_cuda:`), may name another tensor as target (`.to(x)`,
`.type_as(x)`), and may follow arithmetic, `detach`, `expand`, an in-place draw or a concatenation. Numbers
drawn from a distribution with plain numbers as parameters (`Normal(0, 1).sample(shape).to(device)`) count as
well, as do arrays that numpy fills with constants or random numbers and torch only wraps
(`torch.from_numpy(np.zeros(n)).to(device)`). A tensor that is moved in several places, or also returned, is
reported where it is moved first.

In programs that use accelerators, also flags random numbers that are drawn in host memory and copied into a
buffer or a parameter of a network, as noisy layers do in each step.

A tensor that each branch of a condition creates, or that one reshapes (`if not batched: x = x.unsqueeze(0)`),
before it is moved, is flagged as well.

So is a tensor created as the argument of a function of the project that moves what it is passed
(`to_device(torch.zeros(n))`, likely), unless it copies data.

The rule does not flag:

- tensors that need a gradient, are pinned, or are drawn from a generator on the host;
- tensors that are written to between the two steps, except for one or two assignments of a number
  (`mask[rows] = 0`) or a constant tensor, or writes by `scatter_` and similar methods, for which there is
  advice only;
- data that is moved with `non_blocking=True`;
- moves to the CPU;
- programs that set torch's default device.

A tensor that each epoch of a loop creates from the same data (`for _ in range(epochs): states =
torch.tensor(self.states).to(device)`) is reported with this fact.

## Why is it slow
The tensor is allocated and filled on the host, then `.to(device)` blocks on a host-to-device copy. With
`device=` the tensor is created on the device, and the host does not wait. Host data
(`torch.tensor(rewards)`) has to be copied either way. For an array, `device=` then saves a copy within host
memory; for a list it saves little more than a call. Such findings have a low impact, as have constants of
one or two dimensions that are created once per gradient step, other small tensors that are created once in a
gradient step of several networks, vectors with one number for each row that are created once per step, what
is created in a function that reads the device as often, and what is moved only to act: a step of an
environment waits for the action in any case.

On the CPU, `.to(device)` returns the same tensor, so the fix saves only the call.

Tensors that a function creates and moves in the same way, in lines next to each other, are mended by one
change: one keeps its impact, the others have a low one.

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
The fix passes `device=` to the constructor and removes the move.

Safe where the target is certainly a device (`"cuda"`, a `torch.device`, a parameter annotated as one) and
the constructor gives the same numbers on every device.

Unsafe in these cases:

- Only the name of a variable suggests that it holds a device. `.to()` also accepts a dtype or a tensor.
- The constructor draws random numbers: each device has its own random stream.
- Values are rounded, and devices may round differently: fractions in `arange` and `linspace`, arithmetic,
  conversions between types.
- Statements between the constructor and the move have effects or leave the block (`return`, `assert`), which
  an error would precede if the device were not available; or a handler of such errors is in sight.
- Code reads the device of the tensor that was created.
- The constructor is `torch.FloatTensor(data)` or similar. It has no `device=` and becomes
  `torch.as_tensor`.

## References
- https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#create-tensors-directly-on-the-target-device
- https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Finding, Heat, Rule, SemanticModel, Trait, TypeTag, last_name, models
from rlint.rules.transfers._shared.accelerators import may_use_accelerator
from rlint.rules.transfers._shared.creations import Creation, copies_nothing, creation_of
from rlint.rules.transfers._shared.device_moves import DeviceMove, move_of
from rlint.rules.transfers._shared.epoch_loops import ONCE, copied_again
from rlint.rules.transfers._shared.made import FIXED
from rlint.rules.transfers._shared.made_arrays import function_for_array
from rlint.rules.transfers._shared.made_in_branches import made_in_branches
from rlint.rules.transfers._shared.tensor_constructors import DRAW, LEGACY, is_data
from rlint.rules.transfers.rl205_create_then_move.cheap_creations import why_cheap, why_cheap_in_branches
from rlint.rules.transfers.rl205_create_then_move.created_together import created_together, why_shared
from rlint.rules.transfers.rl205_create_then_move.make_there import build_fix
from rlint.rules.transfers.rl205_create_then_move.moved_by_helpers import MAKERS, creation_given
from rlint.rules.transfers.rl205_create_then_move.noise_in_buffers import drawn_for_buffers
from rlint.rules.transfers.rl205_create_then_move.reported_creations import data_of, reported_creation

_MOVES = models.having(Trait.RELOCATES | Trait.CASTS_TO, TypeTag.TENSOR)
_DRAWN_AS = {"Normal": "torch.randn", "Uniform": "torch.rand"}
"""Functions that draw from a distribution of numbers on a device, but for a shift and a scale."""
DEVICE_AWARE = ("cuda", "device", "accelerator")
"""A program that reads none of these names computes on the host."""


class CreateThenMove(Rule):
    code = "RL205"
    name = "create-then-move"
    seeds = ("S0.2", "S4.mem")
    claims = ("time:cuda", "sync:cuda")
    transfers = 1
    heat = Heat.HOT
    visits = (ast.Call,)
    callees = _MOVES | {"copy_"} | MAKERS

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        if last_name(node.func) in MAKERS:
            yield from self.check_helper(node, model)
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in (*_MOVES, "copy_"):
            return
        if node.func.attr == "copy_":
            yield from self.check_buffer(node, model)
            return
        move = move_of(node, model)
        if move is None or model.frequency.heat_of(node).level < self.heat:
            return
        if creation_of(move, model) is None and (made := made_in_branches(move, model)):
            yield self._of_branches(move, made, model)
            return
        creation = model.once(reported_creation, node)
        if creation is None:
            return
        data, like = data_of(creation, model), move.like
        again = copied_again(data[0].args[0], model) if data and data[0].args else None
        cheap = why_cheap(creation, data, model)
        if again is not None and again.is_listed(model):
            cheap = None
        first, *others = created_together(creation, model) if cheap is None else (node,)
        yield self.finding(
            model,
            node,
            message(move, creation, data, model) + (again.says(model) if again is not None else ""),
            fix=build_fix(creation, data, model) if is_fixable(creation) else None,
            advice=ONCE if again is not None else advice(creation, data, model),
            related=[
                *[
                    (write, "written to here: the indices may be on the device, too")
                    for write in creation.writes
                ],
                *[(use, of_other_use(use)) for use in creation.again],
                *[(each, "created and moved in the same way") for each in others if node is first],
            ],
            assumes=f"`{model.source.text(like)}` is on an accelerator" if like is not None else None,
            minor=cheap if node is first else why_shared(first, model),
        )

    def check_helper(self, made: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a tensor that a function of the project moves: `to_device(torch.zeros(n))`."""
        call = creation_given(made, model)
        creation = model.once(reported_creation, call) if call is not None else None
        if call is None or creation is None or creation.made.calls[0] is not made:
            return
        cheap = why_cheap(creation, [], model)
        first, *others = created_together(creation, model) if cheap is None else (call,)
        constructor, moves = model.source.text(made.func), model.source.text(call.func)
        yield self.finding(
            model,
            call,
            f"`{constructor}` is allocated on the host, and `{moves}` then copies it to the device, which "
            f"blocks",
            advice=advice(creation, [], model),
            related=[(each, "created and moved in the same way") for each in others if call is first],
            assumes=f"`{moves}` moves what it is passed to an accelerator",
            minor=cheap if call is first else why_shared(first, model),
        )

    def _of_branches(self, move: DeviceMove, made: list[ast.Call], model: SemanticModel) -> Finding:
        """Return a finding for a tensor that branches create, or reshape, before it is moved."""
        copied = all(is_data(call, model) for call in made)
        does = "copies its data within host memory" if copied else "is allocated on the host"
        then = "copies it to the device" if copied else "blocks on a host-to-device copy"
        constructor, shown = model.source.text(made[0].func), shown_move(move, model)
        like = move.like
        return self.finding(
            model,
            move.call,
            f"`{constructor}` {does} before `{shown}` {then}",
            advice=f"Create it on the device: `{constructor}(..., device=...)`",
            related=[(call, "created here") for call in made],
            assumes=f"`{model.source.text(like)}` is on an accelerator" if like is not None else None,
            minor=why_cheap_in_branches(move, made, model),
        )

    def check_buffer(self, copy: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `self.epsilon.copy_(torch.randn(size))`, with any computation in between."""
        cls = model.class_of(copy)
        if cls is None or model.frequency.heat_of(copy).level < self.heat:
            return
        if not model.program.mentions(*DEVICE_AWARE) and not may_use_accelerator(model):
            return
        for draw, into in model.once(drawn_for_buffers, cls).items():
            if into is not copy or model.frequency.heat_of(draw).level < self.heat:
                continue
            assert isinstance(copy.func, ast.Attribute)
            drawn, buffer = model.source.text(draw.func), model.source.text(copy.func.value)
            yield self.finding(
                model,
                draw,
                f"`{drawn}` draws numbers on the host; copying them into `{buffer}` is a blocking "
                f"host-to-device copy",
                advice=f"Draw on the device of the buffer: `{drawn}(..., device={buffer}.device)`",
                related=[(copy, "copied into the network here")],
                assumes=f"`{buffer}` is on an accelerator",
            )


def of_other_use(use: ast.expr) -> str:
    """Return what else happens to a tensor that is moved."""
    return "copied to the device again here" if isinstance(use, ast.Call) else "returned here, from the host"


def is_fixable(creation: Creation) -> bool:
    """Whether the constructor itself can take the device, and nothing else uses the host tensor."""
    made = creation.made
    if any(keyword.arg is None for call in made.calls for keyword in call.keywords):
        return False  # these may name a device
    return not (made.drawn_from or made.is_array or creation.writes or creation.again)


def shown_move(move: DeviceMove, model: SemanticModel) -> str:
    """Return a move as it is shown in messages, without its source: `.to(device)`."""
    assert isinstance(move.call.func, ast.Attribute)
    given = move.device if move.device is not None else move.like
    if given is None and move.call.args:
        given = move.call.args[0]
    where = model.source.text(given) if given is not None else ""
    if move.options is not None:
        where = f"**{model.source.text(move.options)}"
    shown = f".{move.call.func.attr}({where})"
    return f".{move.call.func.attr}()" if "\n" in shown else shown


def message(move: DeviceMove, creation: Creation, data: list[ast.Call], model: SemanticModel) -> str:
    """Return the message: what is created, and where it is moved."""
    made = creation.made.drawn_by or creation.made.calls[0]
    constructor = model.source.text(made.func)
    shown = shown_move(move, model)
    if creation.made.is_array:
        return f"`{constructor}` fills an array on the host; `{shown}` then blocks on a host-to-device copy"
    if copies_nothing(creation, model):
        return f"`{constructor}` wraps an array on the host; `{shown}` then blocks on a host-to-device copy"
    if data:
        return f"`{constructor}` copies its data within host memory before `{shown}` copies it to the device"
    if creation.made.drawn_from or creation.made.drawn_by is not None:
        return f"`{constructor}` draws on the host; `{shown}` then blocks on a host-to-device copy"
    return f"`{constructor}` is allocated on the host; `{shown}` then blocks on a host-to-device copy"


def advice(creation: Creation, data: list[ast.Call], model: SemanticModel) -> str:
    """Return what to write instead, and what changes if numbers are drawn."""
    instead = _advice(creation, data, model)
    return (
        f"{instead}; the numbers then come from the device's random stream"
        if draws(creation, model)
        else instead
    )


def draws(creation: Creation, model: SemanticModel) -> bool:
    """Whether a tensor holds random numbers."""
    made = creation.made
    if made.drawn_from or made.drawn_by is not None:
        return True
    if made.filled_by is not None and last_name(made.filled_by.func) not in FIXED:
        return True
    names = [model.names.qualified(call.func) or "" for call in made.calls]
    return any(name in DRAW or name.startswith("numpy.random.") for name in names)


def _advice(creation: Creation, data: list[ast.Call], model: SemanticModel) -> str:
    """Return what to write instead."""
    calls, like = creation.made.calls, creation.move.like
    if creation.made.drawn_from:
        function = _DRAWN_AS.get(creation.made.drawn_from)
        instead = f", or draw with `{function}(..., device=...)`" if function is not None else ""
        return f"Pass parameters that are tensors on the device{instead}"
    device = f"{model.source.text(like)}.device" if isinstance(like, (ast.Name, ast.Attribute)) else "..."
    if creation.made.is_array:
        function = function_for_array(calls[0], model)
        if function is None:
            return "Create it with torch, on the device"
        return f"Create it on the device: `{function}(..., device={device})`"
    if (
        data
        and model.names.qualified(calls[0].func) == "torch.tensor"
        and data[0].args
        and model.types.type_of(data[0].args[0]).tag is TypeTag.NDARRAY
        and model.types.type_of(data[0].args[0]).fresh
    ):
        return (
            f"Create it on the device, and on the CPU without a copy: "
            f"`{model.source.text(calls[0].func).removesuffix('tensor')}as_tensor(..., device={device})`"
        )
    old = [call for call in calls if model.names.qualified(call.func) in LEGACY]
    if old and data:
        dtype = LEGACY[model.names.qualified(old[0].func) or ""]
        return f"Create it on the device: `torch.as_tensor(..., dtype={dtype}, device={device})`"
    if old:
        return f"Create it on the device: `torch.empty(..., device={device})`"
    return f"Create it on the device: `{model.source.text(calls[0].func)}(..., device={device})`"
