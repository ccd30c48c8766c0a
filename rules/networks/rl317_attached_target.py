"""A target network whose forward pass is part of the graph of the loss.

## What it does
Flags the forward pass of a target network or of an old policy that runs with autograd on, if `backward()`
reaches its graph although no optimizer updates the weights of that network. So is the call of a function of
the project that runs such a network, which it is passed: `self.log_probs(self.old_policy, states)`. A network
counts as a target network if its name says so and the program copies weights into it, or if it is made as a
copy of another one (`copy.deepcopy(self.critic)`), and it was not passed to any of the optimizers created
beside it. Where the optimizer is created elsewhere (an agent receives it), the finding is
`likely`. So is the target value that a method returns, if its callers in other files, such as the method of a
base class, call `backward`.

The rule does not flag:

- networks whose weights do not require gradients, nor copies of those that the code trains only afterwards;
- inputs that carry a gradient of a network that is trained (an actor loss that goes through a target
  critic);
- references that no weights are copied into, if the parameters of an optimizer are not known.

## Why is it slow
`backward()` also traverses the target network and computes a gradient for each of its weights. No optimizer
reads them, and they accumulate in memory until they are zeroed. All activations of the target network stay
in memory until `backward()`.

## Example
```python
import torch
from torch import nn
from torch.nn import functional as F


class Agent:
    def __init__(self) -> None:
        self.online = nn.Linear(4, 2)
        self.target = nn.Linear(4, 2)
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters())

    def learn(self, states: torch.Tensor, rewards: torch.Tensor, following: torch.Tensor) -> None:
        ahead = self.target(following).amax(dim=1)
        loss = F.mse_loss(self.online(states).amax(dim=1), rewards + ahead)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
```
Use instead:
```python
import torch
from torch import nn
from torch.nn import functional as F


class Agent:
    def __init__(self) -> None:
        self.online = nn.Linear(4, 2)
        self.target = nn.Linear(4, 2)
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters())

    def learn(self, states: torch.Tensor, rewards: torch.Tensor, following: torch.Tensor) -> None:
        with torch.no_grad():
            ahead = self.target(following).amax(dim=1)
        loss = F.mse_loss(self.online(states).amax(dim=1), rewards + ahead)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
```

## Fix safety
Always unsafe: the weights of the target network no longer get a gradient, which other code may log or clip.
If a network that is trained does share weights with it, or computes its input, the gradient of that network
changes.

The fix puts the statement with the forward pass in a `with torch.no_grad():` block. There is no fix where
the statement also computes a value that is trained on, such as the loss itself.

## References
- https://pytorch.org/docs/stable/generated/torch.no_grad.html
- https://pytorch.org/tutorials/intermediate/reinforcement_q_learning.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.rule import (
    Applicability,
    Autograd,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    SinkKind,
    TypeTag,
    descendants,
    dump_as_read,
    last_name,
    weight_sync,
)
from rlint.rules.networks._shared.copies_of_frozen import is_copy_of_frozen
from rlint.rules.networks._shared.no_grad import (
    joined,
    loses_gradient,
    outermost_calls,
    under_no_grad,
    value_of,
)

LEAVES = (SinkKind.RETURNED, SinkKind.STORED)
"""The sinks after which code of this file may continue to compute a loss."""
_DEPTH = 4
"""Maximum number of variables between a draw and the input of a target network."""
ADVICE = "Run the forward pass of the target under `torch.no_grad()`"


class AttachedTarget(Rule):
    code = "RL317"
    name = "attached-target"
    claims = ("time", "mem")
    scales_with_network = True
    heat = Heat.WARM
    visits = (ast.Call,)
    triggers = (
        "target",
        "Target",
        "tgt",
        "old",
        "prev",
        "frozen",
        "ref",
        "lag",
        "trg",
        "targ",
        "load_state_dict",
        "deepcopy",
    )

    def size_of(self, node: ast.Call, model: SemanticModel) -> int | None:
        """Return the number of transitions in the batch."""
        return model.sizes.length(node.args[0]) if node.args else None

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        if not (node.args or node.keywords) or not is_attached(node, model):
            return
        statement = model.syntax.statement(node)
        run = [node]
        statements: list[ast.stmt] = []
        if value_of(statement) is None:
            if any(isinstance(a, ast.Call) and is_attached(a, model) for a in model.ancestors(node)):
                return
        else:
            block, index = model.syntax.block(statement)
            if outermost_calls(statement, is_attached, model)[0] is not node:
                return
            if index and outermost_calls(block[index - 1], is_attached, model):
                return  # reported with the previous one
            statements, run = [], []
            for following in block[index:]:
                forwards = outermost_calls(following, is_attached, model)
                if not forwards:
                    break
                statements.append(following)
                run += forwards
        names = list(dict.fromkeys(model.source.text(network_of(call, model) or call.func) for call in run))
        weights = "weights that no optimizer updates"
        message = f"`backward` also runs through {joined(names)} and computes gradients of {weights}"
        unsure = [
            network
            for network in (network_of(call, model) for call in run)
            if network is not None and is_likely_left_alone(network, model)
        ]
        assumes = f"no optimizer updates `{model.source.text(unsure[0])}`" if unsure else None
        if not any(is_learned(call, model) for call in run):
            assumes = f"`{model.gradients.training_caller(node)}` computes a gradient of the result"
        fix = build_fix(statements, names, model)
        yield self.finding(model, node, message, fix=fix, advice=ADVICE, assumes=assumes)


def network_of(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the network that a call runs, itself or by one of its methods; None for other calls."""
    for candidate in (call.func, getattr(call.func, "value", None)):
        if not isinstance(candidate, (ast.Name, ast.Attribute, ast.Subscript)):
            continue
        if model.names.qualified(candidate) is not None:
            break  # a function, which may run an argument
        kind = model.types.type_of(candidate)
        if kind.tag is TypeTag.MODULE or (not kind and weight_sync.is_network(candidate, model)):
            return candidate
    return network_passed(call, model)


def network_passed(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the target network that a call passes to a function of the project, which runs it:
    `self.log_probs(self.old_policy, states)`.
    """
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        if not isinstance(argument, (ast.Name, ast.Attribute)) or not weight_sync.may_follow(argument, model):
            continue
        targets = model.types.call_targets(call)
        if targets and all(model.gradients.runs_argument(call, argument, each) for each in targets):
            return argument if weight_sync.is_network(argument, model) else None
    return None


def is_attached(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs a target network such that gradients of its weights are computed for no use."""
    passed = (*call.args, *(keyword.value for keyword in call.keywords))
    if not any(weight_sync.may_follow(each, model) for each in (call.func, *passed)):
        return False
    network = network_of(call, model)
    if network is None or not weight_sync.called_follower(network, model):
        return False
    if network is not call.func and not model.gradients.gives_gradient(call):
        return False
    if model.gradients.autograd_at(call) is not Autograd.ON or model.nn.runs_frozen(call):
        return False
    if model.nn.is_optimized(network) is not False and not is_likely_left_alone(network, model):
        return False
    if is_copy_of_frozen(network, model):
        return False
    here = {left.label for left in model.gradients.sinks(call)}
    if not here & {SinkKind.LEARNED, *LEAVES}:
        return False
    if any(may_carry_gradient(argument, model) for argument in passed if argument is not network):
        return False
    return is_learned(call, model) or (
        SinkKind.RETURNED in here and model.gradients.training_caller(call) is not None
    )


def is_learned(call: ast.Call, model: SemanticModel) -> bool:
    """Whether this file computes a gradient of the result of a call."""
    return any(left.label is SinkKind.LEARNED for left in model.gradients.sinks(call)) or (
        SinkKind.LEARNED in model.gradients.traced(call).labels
    )


def is_likely_left_alone(network: ast.expr, model: SemanticModel) -> bool:
    """Whether a network likely is in no optimizer, as weights are copied into it, and its parameters are read
    for nothing else: the optimizer of an agent may be created by its caller.
    """
    return model.nn.is_optimized(network) is None and weight_sync.only_receives_weights(network, model)


def may_carry_gradient(argument: ast.expr, model: SemanticModel) -> bool:
    """Whether the input of a target network may carry a gradient that is used."""
    sources = model.gradients.sources(argument)
    for call in sources.calls:
        if model.gradients.gives_gradient(call) and model.gradients.autograd_at(call) is not Autograd.OFF:
            network = network_of(call, model)
            if network is None:
                return True
            if model.nn.is_optimized(network) is not False and not is_likely_left_alone(network, model):
                return True
    if any(model.types.type_of(kept).tag in (TypeTag.TENSOR, TypeTag.PARAMETERS) for kept in sources.kept):
        return True
    if is_reparametrized(argument, model, _DEPTH):
        return True
    return any(
        isinstance(part, ast.expr) and requires_gradient(part, model) for part in descendants(argument)
    )


def is_reparametrized(value: ast.expr, model: SemanticModel, depth: int) -> bool:
    """Whether a value is computed from `rsample()`, which any distribution draws for its gradient."""
    for node in descendants(value):
        if isinstance(node, ast.Call) and last_name(node.func) == "rsample":
            return model.gradients.autograd_at(node) is not Autograd.OFF
        if depth and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            made = [binding.value for binding in model.dataflow.definitions(node)]
            if any(each is not None and is_reparametrized(each, model, depth - 1) for each in made):
                return True
    return False


def requires_gradient(part: ast.expr, model: SemanticModel) -> bool:
    """Whether a variable or attribute is a tensor that requires grad: `states.requires_grad_()`."""
    if isinstance(part, ast.Name):
        values = [binding.value for binding in model.dataflow.definitions(part) if binding.value is not None]
        if any(_requires_gradient(node) for value in values for node in descendants(value)):
            return True
    elif not isinstance(part, ast.Attribute):
        return False
    text, function = ast.dump(part), model.function(part)
    uses = (use for name in ("requires_grad", "requires_grad_") for use in model.names.attribute_uses(name))
    return any(
        model.function(use) is function and dump_as_read(use.value) == text
        for use in uses
        if isinstance(use.ctx, ast.Store) or isinstance(model.parent(use), ast.Call)
    )


def _requires_gradient(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "requires_grad_") or (
        isinstance(node, ast.keyword) and node.arg == "requires_grad"
    )


def build_fix(run: Sequence[ast.stmt], names: Sequence[str], model: SemanticModel) -> Fix | None:
    """Wrap the statements in `no_grad`."""
    others: dict[str, None] = {}
    for statement in run:
        lost = loses_gradient(statement, outermost_calls(statement, is_attached, model), model)
        if lost is None:
            return None
        others.update(dict.fromkeys(lost))
    edits = under_no_grad(run, model) if run else None
    if edits is None:
        return None
    reason = f"the weights of {joined(names)} no longer get a gradient"
    if others:
        reason += f"; nor do values computed from {joined(list(others))} here"
    return Fix("Run the forward pass under `torch.no_grad()`", Applicability.UNSAFE, edits, reason)
