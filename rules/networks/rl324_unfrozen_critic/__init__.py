"""An actor loss that also computes gradients of the critic's weights, which are never used.

## What it does
Flags the `backward()` of a loss that runs through a network whose weights the following optimizer does not
update: the critic in the actor loss of DDPG, TD3 and SAC (`-self.critic(states,
self.actor(states)).mean()`). The input of that network must come from a network that the optimizer does
update. The network's own optimizer, if there is one, must zero the gradients before its step.

The rule does not flag networks that are frozen at that point, `backward(inputs=...)`, networks that share a
part with the one that is trained, and optimizers whose parameters are not known.

The rule is opt-in: most textbooks write the loss in this way, the gain is a part of one `backward`, and the
change takes three more lines.

## Why is it slow
The gradient passes through the critic on its way to the actor, which needs the gradient of the critic's
inputs, but not of its weights. For each linear layer, the gradient of the weights is one more matrix
product of the same size, so about a third of the critic's cost here is spent on numbers that `zero_grad()`
discards. If the update also trains the critic, that is a small part of the whole.

## Example
```python
import torch
from torch import nn


class Agent:
    def __init__(self) -> None:
        self.actor = nn.Sequential(nn.Linear(17, 256), nn.ReLU(), nn.Linear(256, 6), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(23, 256), nn.ReLU(), nn.Linear(256, 1))
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters())
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters())

    def learn(self, states: torch.Tensor, actions: torch.Tensor, targets: torch.Tensor) -> None:
        critic_loss = (self.critic(torch.cat((states, actions), 1)) - targets).pow(2).mean()
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        actor_loss = -self.critic(torch.cat((states, self.actor(states)), 1)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
```
Use instead (by hand):
```python
import torch
from torch import nn


class Agent:
    def __init__(self) -> None:
        self.actor = nn.Sequential(nn.Linear(17, 256), nn.ReLU(), nn.Linear(256, 6), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(23, 256), nn.ReLU(), nn.Linear(256, 1))
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters())
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters())

    def learn(self, states: torch.Tensor, actions: torch.Tensor, targets: torch.Tensor) -> None:
        critic_loss = (self.critic(torch.cat((states, actions), 1)) - targets).pow(2).mean()
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        self.critic.requires_grad_(False)
        actor_loss = -self.critic(torch.cat((states, self.actor(states)), 1)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        self.critic.requires_grad_(True)
```

## Fix safety
There is no fix: `requires_grad` has to be switched on again on every way out, and not for a network that is
partly frozen for another reason. The actor gets the same gradients, to the bit. `torch.no_grad()` around
the critic would be wrong, because it would cut off the actor as well.

## References
- https://docs.pytorch.org/docs/stable/notes/autograd.html#setting-requires-grad
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Finding, Heat, Rule, SemanticModel
from rlint.rules.networks._shared.discarded_gradients import loss_of, passed_through


class UnfrozenCritic(Rule):
    code = "RL324"
    name = "unfrozen-critic"
    claims = ("time",)
    scales_with_network = True
    heat = Heat.WARM
    opt_in = True
    visits = (ast.Call,)
    callees = frozenset({"backward"})

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, ast.Attribute) or node.func.attr != "backward":
            return
        loss = loss_of(node, model)
        found = passed_through(loss, model) if loss is not None else []
        if loss is None or not found:
            return
        names = [f"`{name}`" for name, _ in found]
        shown = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
        thrown = " and ".join(dict.fromkeys(by for _, by in found if by))
        clause = f"which {thrown} discards" if thrown else "which no optimizer uses"
        frozen = ", ".join(f"`{name}.requires_grad_(False)`" for name, _ in found)
        yield self.finding(
            model,
            node,
            f"This also computes gradients of the weights of {shown}, {clause}: `{loss.optimizer}` does not "
            f"update them",
            advice=f"Call {frozen} before this loss is computed, and enable it again after `backward`; the "
            f"gradient still flows through the network",
        )
