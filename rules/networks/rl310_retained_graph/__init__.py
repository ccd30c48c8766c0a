"""A graph retained after its last backward pass.

## What it does
Flags `loss.backward(retain_graph=True)` where no other backward pass uses the same graph: it was built in
the same iteration, no later loss depends on a part of it, and it is neither stored nor returned. A loss that
is returned after a step of the optimizer likely is only logged. Arguments that several losses depend on
likely carry no graph, judging by their names, unless a caller in the same file passes the output of a
network.

A loss may be a parameter, if all callers are in the same file. Attributes that only receive data, such as the
lists of a rollout, likely hold no part of a graph.

Losses of separate networks share no graph, also if one function computes the values for both, such as those
of an actor and a critic (likely).

The graph may also be retained by `accelerator.backward(loss, retain_graph=True)`, `manual_backward`, or
`torch.autograd.backward` and `grad`, by a variable or `**options`, or by a helper to which a call passes
`True`. Of several losses over which a loop iterates, the last is meant.

If several losses share a part of their graphs, all of them but the last need `retain_graph=True`, and are
not flagged. The same holds for a recurrent state that is carried from one update to the next without
`detach()`.

## Why is it slow
`backward` normally frees each saved tensor as soon as it has been used. With `retain_graph=True`, all of
them stay in memory for as long as anything refers to the loss. That is often until the next forward pass
has saved its own tensors, so peak memory is that of two updates. The time is the same.

## Example
```python
import torch
from torch import nn


def train(net: nn.Module, batches: list, optimizer: torch.optim.Optimizer) -> None:
    for states, returns in batches:
        loss = (net(states) - returns).pow(2).mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
```
Use instead:
```python
import torch
from torch import nn


def train(net: nn.Module, batches: list, optimizer: torch.optim.Optimizer) -> None:
    for states, returns in batches:
        loss = (net(states) - returns).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

## Fix safety
Always unsafe: if another backward pass does use the graph (from a hook, another thread, or a network that
keeps its state), it raises an error that says so. The gradients are the same.

## References
- https://pytorch.org/docs/stable/generated/torch.Tensor.backward.html
- https://pytorch.org/docs/stable/notes/autograd.html#saved-tensors
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Applicability, Finding, Fix, Heat, Rule, SemanticModel, last_name
from rlint.rules.networks._shared.backward_calls import BACKWARD, Backward, backward_of
from rlint.rules.networks.rl310_retained_graph.graphs import last_use
from rlint.rules.networks.rl310_retained_graph.retain_flags import RetainFlag, retain_flags
from rlint.rules.networks.rl310_retained_graph.separate_graphs import divided_calls


class RetainedGraph(Rule):
    code = "RL310"
    name = "retained-graph"
    seeds = ("S1.T3",)
    claims = ("mem",)
    heat = Heat.WARM
    visits = (ast.Call,)
    callees = BACKWARD

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        if not node.args and not node.keywords:
            return  # most calls
        backward = backward_of(node, model)
        if backward is not None and (
            last_name(node.func) == "grad" or isinstance(model.parent(node), ast.Expr)
        ):
            for retained in retain_flags(backward, model):
                yield from self.check_flag(backward, retained, model)

    def check_flag(self, backward: Backward, retained: RetainFlag, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding if no other backward pass uses the graph."""
        assumed = last_use(backward, retained, model)
        if assumed is None:
            return
        text = model.source.text(retained.loss)
        in_loop = retained.place is not retained.call
        graph = f"The graph of the last `{text}`" if in_loop else f"The graph of `{text}`"
        yield self.finding(
            model,
            retained.call,
            f"{graph} is retained for another backward pass, which never happens",
            fix=None if in_loop else build_fix(retained, model),
            advice=(
                "Call `backward` once on the sum of the losses, or retain the graph for all but the last"
                if in_loop
                else "Remove `retain_graph`"
            ),
            assumes=assumption(backward.call, assumed, model),
        )


def assumption(backward: ast.Call, assumed: tuple[str, ...], model: SemanticModel) -> str | None:
    """Return what must hold for the graph to be needed no longer, if one call computes values for several
    losses, too.
    """
    called = [f"`{model.source.text(call.func)}`" for call in divided_calls(backward, model)]
    also = (f"the values that {called[0]} returns share no layers",) if called else ()
    return " and ".join((*assumed, *also)) or None


def build_fix(retained: RetainFlag, model: SemanticModel) -> Fix | None:
    """Remove the argument."""
    edit = model.edit.without_arguments(retained.call, [retained.flag]) if retained.flag is not None else None
    if edit is None:
        return None
    reason = "no other backward pass may use the graph, which would raise an error"
    return Fix("Let `backward` free the graph", Applicability.UNSAFE, (edit,), reason)
