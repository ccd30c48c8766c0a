"""A large network trained on a CUDA device in float32 only.

## What it does
Flags `loss.backward()` in code that takes gradient steps repeatedly, if all of these hold:

- the loss comes from a network that is known to have convolutions, attention, or linear layers of 1,024
  units or more;
- the file moves something to a device that may be a CUDA device;
- nothing in the project mentions lower precision: no `autocast`, `GradScaler`, `half`, `bfloat16` or TF32,
  no option called `fp16` or `amp`, and no library that sets it, such as accelerate, deepspeed or lightning.

One place in each function is flagged.

The rule is opt-in: the gain depends on the device and on the sizes. Convolutions and matrix products must
be large enough to keep the device busy. Where an update waits for Python, for data or for the environment,
lower precision changes nothing, and the casts even cost a little. Networks of a few small linear layers, as
for joint positions, are therefore not flagged.

## Why is it slow
GPUs since Volta have tensor cores, which multiply matrices in half precision several times as fast as in
float32, and the activations that are saved for the backward pass take half the memory. Without `autocast`,
PyTorch multiplies matrices in float32.

## Example
```python
import torch
from torch import nn

device = torch.device("cuda")
encoder = nn.Sequential(nn.Conv2d(4, 64, 8, stride=4), nn.ReLU(), nn.Flatten(), nn.LazyLinear(6)).to(device)


def train(batches: list, optimizer: torch.optim.Optimizer) -> None:
    for frames, targets in batches:
        loss = nn.functional.mse_loss(encoder(frames.to(device)), targets.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```
Use instead (by hand):
```python
import torch
from torch import nn

device = torch.device("cuda")
encoder = nn.Sequential(nn.Conv2d(4, 64, 8, stride=4), nn.ReLU(), nn.Flatten(), nn.LazyLinear(6)).to(device)


def train(batches: list, optimizer: torch.optim.Optimizer) -> None:
    for frames, targets in batches:
        with torch.amp.autocast("cuda", dtype=torch.bfloat16):
            loss = nn.functional.mse_loss(encoder(frames.to(device)), targets.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

## Fix safety
There is no fix: the results are less precise, and only a training run shows whether the agent still learns.

`torch.bfloat16` (GPUs since Ampere) has the range of float32 and needs no `GradScaler`. With
`torch.float16` and no `GradScaler`, small gradients become zero. Only the forward pass and the loss belong
in the `autocast` block, neither `backward` nor the optimizer step. Convert results with `.float()` before
`.numpy()`, because NumPy has no bfloat16. `torch.amp.autocast` needs PyTorch 1.12;
`torch.cuda.amp.autocast` is deprecated.

## References
- https://docs.pytorch.org/docs/stable/amp.html
- https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Architecture, Finding, Heat, Rule, SemanticModel, torch_settings
from rlint.rules.networks._shared.accelerated import calls_in_gradient, may_run_on_cuda

_WIDE = 1024
"""Narrower linear layers do not saturate a device with usual batch sizes."""


class NoMixedPrecision(Rule):
    code = "RL308"
    name = "no-mixed-precision"
    seeds = ("S1.T3", "S4.4")
    claims = ("time:cuda",)
    opt_in = True
    visits = (ast.Call,)
    callees = frozenset({"backward"})

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        loss = differentiated(node)
        if loss is None:
            return
        if model.program.sets(torch_settings.PRECISION, anywhere=True) or not may_run_on_cuda(model):
            return
        found = gaining(loss, model)
        if (
            found is None
            or model.frequency.heat_of(node).level is not Heat.HOT
            or is_reported_before(node, model)
        ):
            return
        network, layers = found
        yield self.finding(
            model,
            node,
            f'{layers} of `{network}` compute in float32: the project has no `torch.amp.autocast("cuda")`',
            advice='Compute the loss under `torch.amp.autocast("cuda", dtype=torch.bfloat16)`, which needs '
            "no `GradScaler`, and compare the learning curves",
        )


def differentiated(call: ast.Call) -> ast.expr | None:
    """Return the loss of `loss.backward()`."""
    match call:
        case ast.Call(func=ast.Attribute(value=loss, attr="backward"), args=[]):
            return loss
    return None


def gaining(loss: ast.expr, model: SemanticModel) -> tuple[str, str] | None:
    """Return a network that a loss is computed from, with such layers, and the layers."""
    for call in calls_in_gradient(loss, model):
        run = model.nn.network_run(call)
        layers = layers_that_gain(model.nn.architecture(*run)) if run is not None else None
        if run is not None and layers is not None:
            return model.source.text(run[0]), layers
    return None


def layers_that_gain(network: Architecture) -> str | None:
    """Return the layers surely in a network that tensor cores compute faster."""
    sure = [name.rpartition(".")[2] for name, there in network.layers.items() if there]
    if any("Conv" in name for name in sure):
        return "The convolutions"
    if any("Attention" in name or "Transformer" in name for name in sure):
        return "The attention layers"
    if network.width >= _WIDE:
        return f"The linear layers (up to {network.width} units)"
    return None


def is_reported_before(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the same finding exists for an earlier line of the function."""
    for other in model.names.calls_named("backward", model.function(call)):
        loss = differentiated(other)
        if (
            loss is None
            or model.source.span(other) >= model.source.span(call)
            or model.frequency.heat_of(other).level is not Heat.HOT
        ):
            continue
        if gaining(loss, model) is not None:
            return True
    return False
