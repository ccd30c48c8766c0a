"""A network switched to `eval()` and back for each action, though no layer depends on the mode.

## What it does
Flags `net.eval()` in code that runs per step, if the function or the class also calls `net.train()`: around
the forward pass of each action, where the agent learns, or after each rollout.

Also flags contexts of the project that do the same in code that runs per step (`with eval_mode(agent):`).

Nothing in the network may depend on the mode: no dropout, no batch normalisation, no attention, no code that
reads `self.training`, no `train` or `eval` method of its own. This includes helper functions, base classes
and other files. Where parts of the network are unknown, and for contexts, no file of the program may name a
layer that depends on the mode; these findings are likely, with advice only.

## Why is it slow
`eval()` and `train()` visit all modules of the network and set an attribute of each, in Python. For a small
network, this takes a considerable part of the time of the forward pass, for every action.

## Example
```python
import torch
from torch import nn


class Agent:
    def __init__(self) -> None:
        self.q_net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))

    def act(self, state: torch.Tensor) -> int:
        self.q_net.eval()
        with torch.no_grad():
            values = self.q_net(state)
        self.q_net.train()
        return int(values.argmax())


def run(agent: Agent, env) -> None:
    state, done = env.reset(), False
    while not done:
        state, _, done = env.step(agent.act(state))
```
Use instead:
```python
import torch
from torch import nn


class Agent:
    def __init__(self) -> None:
        self.q_net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))

    def act(self, state: torch.Tensor) -> int:
        with torch.no_grad():
            values = self.q_net(state)
        return int(values.argmax())


def run(agent: Agent, env) -> None:
    state, done = env.reset(), False
    while not done:
        state, _, done = env.step(agent.act(state))
```

## Fix safety
Always unsafe. The output of the network does not change, but its `training` attribute does: other code that
reads it sees the previous mode. If dropout is added later, the calls are needed again. There is only advice
where the old mode is stored in a variable (`net.train(before)`).

## References
- https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.train
- https://pytorch.org/docs/stable/notes/autograd.html#evaluation-mode-nn-module-eval
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    ClassSummary,
    Finding,
    Fix,
    FunctionSummary,
    Heat,
    Rule,
    SemanticModel,
    TypeTag,
    same_code,
)

SWITCHES = frozenset({"eval", "train"})
BACK = frozenset({"train"})


class ModeTogglePerStep(Rule):
    code = "RL320"
    name = "mode-toggle-per-step"
    claims = ("time",)
    visits = (ast.Call, ast.With)
    callees = frozenset({"eval", "train"})

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        if isinstance(node, ast.With):
            yield from self.check_context(node, model)
            return
        assert isinstance(node, ast.Call)
        network = switched(node, model)
        if network is None or new_mode(node) is not False:
            return
        toggles = toggles_of(network, node, model)
        to_evaluation = [call for call in toggles if new_mode(call) is False]
        back = [call for call in toggles if new_mode(call) is not False]
        if not back or to_evaluation[:1] != [node]:
            return
        structure = model.nn.architecture(network, None)
        if structure.by_mode or (structure.complete and not structure.layers):
            return
        if not structure.complete and model.nn.has_layers_by_mode():
            return
        text = model.source.text(network)
        often = any(model.frequency.heat_of(call).level is Heat.HOT for call in back)
        switches = f"`{text}` is switched to evaluation mode {'and back ' if often else ''}in every step"
        yield self.finding(
            model,
            node,
            f"{switches}, but none of its layers depends on the mode" if structure.complete else switches,
            fix=build_fix(toggles, model) if structure.complete else None,
            advice="Remove both calls: without dropout and batch normalisation the mode makes no difference",
            assumes=None if structure.complete else f"no layer of `{text}` depends on the mode",
        )

    def check_context(self, block: ast.With, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a context of the project that switches the mode and back in every step."""
        for item in block.items:
            context = item.context_expr
            if not isinstance(context, ast.Call) or not context.args or not switches_and_back(context, model):
                continue
            if model.frequency.heat_of(block).level is not Heat.HOT or model.nn.has_layers_by_mode():
                continue
            text, switched_by = model.source.text(context.args[0]), model.source.text(context.func)
            yield self.finding(
                model,
                context,
                f"`{switched_by}` switches the mode of `{text}` and switches it back in every step",
                advice="Remove the context: without dropout and batch normalisation the mode makes no "
                "difference",
                assumes=f"no layer of `{text}` depends on the mode",
            )


def switches_and_back(context: ast.Call, model: SemanticModel) -> bool:
    """Whether a call creates a context of the project that calls `eval()` or `train()` on entry and `train()`
    on exit, as a class or as a generator.
    """
    qualified = model.names.qualified(context.func)
    found = model.index.symbol(qualified, model.module.module) if qualified else None
    if isinstance(found, ClassSummary):
        enter, leave = (model.index.method(found, name) for name in ("__enter__", "__exit__"))
        return bool(enter and leave and SWITCHES & methods_called(enter) and BACK & methods_called(leave))
    if isinstance(found, FunctionSummary):
        called = [call.method for call in found.calls if call.method in SWITCHES]
        return len(called) > 1 and "train" in called
    return False


def methods_called(function: FunctionSummary) -> frozenset[str]:
    """Return the names of the methods that a function calls."""
    return frozenset(call.method for call in function.calls)


def switched(call: ast.Call, model: SemanticModel) -> ast.Name | ast.Attribute | None:
    """Return the network that a statement `net.eval()` or `net.train()` switches."""
    match call:
        case ast.Call(
            func=ast.Attribute(value=ast.Name() | ast.Attribute() as network, attr="eval"), args=[]
        ):
            pass
        case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as network, attr="train")):
            pass
        case _:
            return None
    if not isinstance(model.parent(call), ast.Expr):
        return None
    return network if model.types.type_of(network).tag is TypeTag.MODULE else None


def new_mode(call: ast.Call) -> bool | None:
    """Whether it is switched to training. None if a variable determines the mode."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "eval":
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not given:
        return True
    return given[0].value is True if isinstance(given[0], ast.Constant) else None


def toggles_of(network: ast.expr, call: ast.Call, model: SemanticModel) -> list[ast.Call]:
    """Return the switches of a network in one function, or for an attribute of `self` in all methods of a
    class, in source order: those to evaluation mode that run per step, and all others.
    """
    owner, function = model.class_of(call), model.function(call)
    of_self = owner is not None and (isinstance(network, ast.Attribute) or model.names.is_self(network))
    found = []
    for attribute in (*model.names.attribute_uses("eval"), *model.names.attribute_uses("train")):
        other = model.parent(attribute)
        if not isinstance(other, ast.Call) or not same_code(attribute.value, network):
            continue
        together = model.class_of(other) is owner if of_self else model.function(other) is function
        if not together or switched(other, model) is None:
            continue
        if new_mode(other) is not False or model.frequency.heat_of(other).level is Heat.HOT:
            found.append(other)
    return sorted(found, key=model.source.span)


def build_fix(toggles: list[ast.Call], model: SemanticModel) -> Fix | None:
    """Remove all of them."""
    if any(new_mode(call) is None for call in toggles):
        return None
    edits = model.edit.delete_statements([model.syntax.statement(call) for call in toggles])
    if edits is None:
        return None
    reason = "its `training` attribute keeps the previous mode, which other code may read"
    return Fix("Do not switch the mode", Applicability.UNSAFE, tuple(edits), reason)
