"""An uncompiled policy that acts for many environments at once on a CUDA device.

## What it does
Flags the call of a network on observations, with autograd off, in a loop that steps environments or in a
function that such a loop calls, if all of these hold:

- the project has many environments (`num_envs`, 32 or more by default);
- the file moves something to a device that may be a CUDA device;
- nothing in the project mentions a compiler: no `torch.compile`, CUDA graphs or TorchScript, and no export
  of the network;
- all of the network is known, and its inputs have one shape: no recurrent layers, no attention, no hooks,
  no attributes that the forward pass changes.

Only the first such call of a network in a function is flagged.

The rule is opt-in: `torch.compile` needs PyTorch 2.0. It pays off on CUDA devices, for batches of about 64
observations or more, in runs that are long enough to make up for the seconds or minutes of compilation. For
one observation on the CPU, a compiled policy is slower than the plain one.

## Why is it slow
Each layer and each activation is a call from Python that launches a kernel. In the networks of
reinforcement learning, the kernels take less time than their launches, so the device idles. `torch.compile`
fuses the operations. With `mode="reduce-overhead"` it records them as a CUDA graph, which is launched by
one call.

## Example
```python
import torch
from torch import nn

device = torch.device("cuda")
policy = nn.Sequential(nn.Linear(17, 256), nn.Tanh(), nn.Linear(256, 6)).to(device)


def collect(envs, num_envs: int, steps: int) -> None:
    obs = torch.zeros(num_envs, 17, device=device)
    for _ in range(steps):
        with torch.no_grad():
            logits = policy(obs)
        obs, _, _, _ = envs.step(logits.argmax(-1))
```
Use instead (by hand):
```python
import torch
from torch import nn

device = torch.device("cuda")
policy = nn.Sequential(nn.Linear(17, 256), nn.Tanh(), nn.Linear(256, 6)).to(device)
act = torch.compile(policy, mode="reduce-overhead")


def collect(envs, num_envs: int, steps: int) -> None:
    obs = torch.zeros(num_envs, 17, device=device)
    for _ in range(steps):
        with torch.no_grad():
            logits = act(obs)
        obs, _, _, _ = envs.step(logits.argmax(-1))
```

## Fix safety
There is no fix: compiled code rounds differently, needs a compiler on the machine, and recompiles for each
new shape of the observations.

With `mode="reduce-overhead"`, each call overwrites the result of the previous call. Copy results that you
keep: `rollout[step] = logits` copies, appending to a list does not. Keep the plain network for
`state_dict()`, because the keys of the compiled one differ. TorchScript is deprecated and no substitute.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.compile.html
- https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Autograd,
    Driver,
    Finding,
    Heat,
    Rule,
    SemanticModel,
    TypeTag,
    descendants,
    observations,
    torch_settings,
)
from rlint.rules.networks._shared.accelerated import may_run_on_cuda

SEVERAL = ("num_envs", "n_envs", "num_environments", "n_environments", "num_processes", "nenvs")
"""Names for the number of environments that step together."""


MANY = 32
"""If the default is lower, a step has too few observations."""


class UncompiledPolicy(Rule):
    code = "RL309"
    name = "uncompiled-policy"
    seeds = ("S4.3",)
    claims = ("time:cuda",)
    opt_in = True
    visits = (ast.Call,)
    triggers = ("no_grad", "inference_mode", "set_grad_enabled")

    def concerns(self, model: SemanticModel) -> bool:
        """Whether the program compiles nothing yet."""
        return not model.program.sets(torch_settings.COMPILED, anywhere=True)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        run = model.nn.network_run(node) if node.args else None
        if run is None or not acts(node, model) or not may_run_on_cuda(model):
            return
        network, method = run
        if is_part(network, model) or not has_fixed_shape(network, method, model):
            return
        if not steps_several(model) or is_reported_before(node, network, model):
            return
        yield self.finding(
            model,
            node,
            f"`{model.source.text(network)}` launches a kernel per layer in every step: the project "
            f"compiles no network",
            advice=f'Call `torch.compile({model.source.text(node.func)}, mode="reduce-overhead")` '
            "once, if batches have about 64 observations or more on a CUDA device",
        )


def is_part(network: ast.expr, model: SemanticModel) -> bool:
    """Whether it is a part of another network that runs it. The whole network should be compiled."""
    root = network
    while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
        root = root.func if isinstance(root, ast.Call) else root.value
    is_own = isinstance(root, ast.Name) and root.id == "self" and model.class_of(root) is not None
    return is_own and model.types.type_of(root).tag is TypeTag.MODULE


def acts(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the inputs of a network are the observations of each environment step, and it does not train on
    them.
    """
    if not any(is_shown(node, model) for node in descendants(call.args[0]) if isinstance(node, ast.expr)):
        return False
    if (
        model.frequency.heat_of(call).level is not Heat.HOT
        or model.gradients.autograd_at(call) is not Autograd.OFF
    ):
        return False
    summary = model.symbols.function_at(call)
    loops = [model.analysis.loops.index[loop] for loop in model.frequency.loops(call)]
    around = [summary.loops[index] for index in loops] if summary is not None else []
    if around:
        return Driver.ENVIRONMENT_STEP in around[0].drivers
    drives = model.frequency.drivers(call)
    return Driver.ENVIRONMENT_STEP in drives and Driver.GRADIENT_STEP not in drives


def is_shown(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether it is an observation, or one that was converted to a tensor on the device."""
    if observations.is_observation(expression, model):
        return True
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.lower() in ("obs", "next_obs", "observation", "state", "observations", "states")
    return False


def has_fixed_shape(network: ast.expr, method: str, model: SemanticModel) -> bool:
    """Whether all of a network is known, and computes the same operations in each step."""
    structure = model.nn.architecture(network, method)
    odd = (
        structure.recurrent
        or structure.attention
        or structure.hooks
        or structure.keeps
        or structure.reads_training
    )
    return structure.complete and structure.weights and not odd


def steps_several(model: SemanticModel) -> bool:
    """Whether the project has a number of environments that step together, whose default is not small."""
    if any(number < MANY for number in default_numbers(model)):
        return False
    if any(map(model.program.is_attribute_read, SEVERAL)):
        return True
    return any(node.id in SEVERAL for node in model.syntax.of_type(ast.Name)) or any(
        node.arg in SEVERAL for node in model.syntax.of_type(ast.arg)
    )


def default_numbers(model: SemanticModel) -> Iterator[int]:
    """Yield the default numbers of environments: in options, fields and variables."""
    for call in model.syntax.of_type(ast.Call):
        if not (isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"):
            continue
        name = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else ""
        if isinstance(name, str) and name.lstrip("-").replace("-", "_") in SEVERAL:
            yield from (number_in(word.value) for word in call.keywords if word.arg == "default")
    for field in model.syntax.of_type(ast.AnnAssign):
        if isinstance(field.target, ast.Name) and field.target.id in SEVERAL and field.value is not None:
            yield number_in(field.value)
    for bound in model.syntax.of_type(ast.Assign):
        if isinstance(bound.targets[0], ast.Name) and bound.targets[0].id in SEVERAL:
            yield number_in(bound.value)


def number_in(value: ast.expr) -> int:
    """Return the value of a literal number; `MANY` for other expressions."""
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, int) else MANY


def is_reported_before(call: ast.Call, network: ast.expr, model: SemanticModel) -> bool:
    """Whether an earlier call in the same function runs the same network, or the one that contains it."""
    function, text = model.function(call), f"{model.source.text(network)}."
    for other in model.syntax.of_type(ast.Call):
        if (
            model.function(other) is not function
            or not other.args
            or model.source.span(other) >= model.source.span(call)
        ):
            continue
        run = model.nn.network_run(other)
        if run is not None and text.startswith(f"{model.source.text(run[0])}.") and acts(other, model):
            return has_fixed_shape(run[0], run[1], model)
    return False
