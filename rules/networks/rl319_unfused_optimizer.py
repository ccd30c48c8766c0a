"""An optimizer that updates weights with many small operations instead of a fused kernel.

## What it does
Flags `Adam`, `AdamW`, and `SGD` with momentum that are created without `fused=` or `foreach=` and take a
step in each update, possibly in another file (`self.policy.optimizer.step()`).

The rule does not flag `SGD` without momentum, which does little work, optimizers of a single tensor
(`[log_alpha]`), optimizers that are called with a closure or are `differentiable` or `capturable`, and
files with sparse gradients.

The rule is opt-in: `fused=True` rounds differently, so the results of a seeded run change. It needs PyTorch
2.0, for `SGD` PyTorch 2.3, and on the CPU PyTorch 2.4; `foreach=True` needs PyTorch 1.12. Where the forward
and backward passes are large, the step is a small part of the time.

## Why is it slow
Without these options, a step of Adam is a dozen operations on each weight tensor; each is a call from
Python, and reads and writes the whole tensor. The small networks of reinforcement learning have many small
tensors, so the calls take most of the time. A fused step does all of it in one call and one pass.

On CUDA devices PyTorch groups the tensors by default (`foreach`): each operation then processes all tensors
at once, and the gain is smaller. On the CPU it does not group them.

## Example
```python
import torch


def train(model, batches):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    for obs, returns in batches:
        loss = (model(obs) - returns).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

Use instead:

```python
import torch


def train(model, batches):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, fused=True)
    for obs, returns in batches:
        loss = (model(obs) - returns).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

## Fix safety
Unsafe. The weights round differently from the first step on. The constructor raises an error if a parameter
is not a floating-point tensor or is on a device without such kernels, and the step raises an error for
sparse gradients.

If rounding must not change, `foreach=True` groups the tensors, gives identical results, and gains less.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.optim.Adam.html
- https://docs.pytorch.org/docs/stable/optim.html#algorithms
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Applicability, Finding, Fix, Heat, Rule, SemanticModel, last_name, last_names

OPTIMIZERS = {f"torch.optim.{name}": name for name in ("Adam", "AdamW", "SGD")}
DECIDES = frozenset({"fused", "foreach", "differentiable", "capturable", None})
MOMENTUM = 2
"""The position of `momentum` among the arguments of `SGD`."""


class UnfusedOptimizer(Rule):
    code = "RL319"
    name = "unfused-optimizer"
    claims = ("time",)
    heat = Heat.COLD
    opt_in = True
    visits = (ast.Call,)
    callees = last_names(*OPTIMIZERS)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        name = OPTIMIZERS.get(model.names.qualified(node.func) or "")
        if name is None or any(isinstance(argument, ast.Starred) for argument in node.args):
            return
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if DECIDES & set(given) or (name == "SGD" and not has_momentum(node, given)):
            return
        holder = held_by(node, model) if is_of_a_network(node, given) else None
        if holder is None or has_sparse_gradients(model):
            return
        if hands_closure(holder, model):
            return
        stepped = steps(holder, node, model)
        if stepped is not None:
            where = f"in line {model.span_of(stepped)[0].line}"
        else:
            other_edits = model.program.hot_callers("step", holder)
            if not other_edits:
                return
            where = f"in `{other_edits[0]}`"
        edit = model.edit.with_keyword(node, "fused", "True")
        reason = "weights are rounded differently, and all must be floating-point with dense gradients"
        yield self.finding(
            model,
            node,
            f"`{name}` updates the weights with many small operations (on the CPU for each tensor) on every "
            f"step {where}",
            fix=Fix("Pass `fused=True`", Applicability.UNSAFE, (edit,), reason) if edit is not None else None,
            advice="Pass `fused=True`; on the CPU, `foreach=True` if the weights must stay bit-identical",
        )


def is_of_a_network(call: ast.Call, given: dict[str | None, ast.expr]) -> bool:
    """Whether an optimizer updates more than a single tensor (`[log_alpha]`), as far as is visible."""
    parameters = call.args[0] if call.args else given.get("params")
    match parameters:
        case ast.List(elts=[ast.Name() | ast.Attribute()]):
            return False
    return parameters is not None


def has_momentum(call: ast.Call, given: dict[str | None, ast.expr]) -> bool:
    """Whether `SGD` has a momentum other than zero."""
    momentum = call.args[MOMENTUM] if len(call.args) > MOMENTUM else given.get("momentum")
    return momentum is not None and not (isinstance(momentum, ast.Constant) and not momentum.value)


def held_by(call: ast.Call, model: SemanticModel) -> str | None:
    """Return the name of the variable or attribute that an optimizer is stored in."""
    targets = model.names.targets(call)
    return last_name(targets[0]) if len(targets) == 1 else None


def hands_closure(holder: str, model: SemanticModel) -> bool:
    """Whether a closure is passed to `step` of the optimizer of that name."""
    return any(
        named(owner) == holder.strip("_") and (call.args or call.keywords)
        for owner, call in step_calls(model)
    )


def steps(holder: str, made: ast.Call, model: SemanticModel) -> ast.Call | None:
    """Return a call in hot code of this file that steps the optimizer of that name, preferably one in the
    function that creates it; None if there is none.
    """
    wanted = holder.strip("_")
    found = [
        call
        for owner, call in step_calls(model)
        if (named(owner) == wanted or any(named(argument) == wanted for argument in call.args))
        and model.frequency.heat_of(call).level is Heat.HOT  # also `scaler.step(optimizer)`
    ]
    here = [call for call in found if model.function(call) is model.function(made)]
    return next(iter(here or found), None)


def step_calls(model: SemanticModel) -> list[tuple[ast.expr, ast.Call]]:
    """Return the calls of methods `step` in this file, each with its receiver."""
    found = []
    for use in model.names.attribute_uses("step"):
        call = model.syntax.call_of(use)
        if call is not None:
            found.append((use.value, call))
    return found


def named(expression: ast.expr) -> str | None:
    """Return the last part of a variable or attribute, without leading underscores: a parameter `optimizer`
    is stored as `self._optimizer`.
    """
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_")
    return None


def has_sparse_gradients(model: SemanticModel) -> bool:
    """Whether an embedding of this file has sparse gradients."""
    return any(
        word.arg == "sparse" and not (isinstance(word.value, ast.Constant) and not word.value.value)
        for word in model.syntax.of_type(ast.keyword)
    )
