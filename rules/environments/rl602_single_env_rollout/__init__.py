"""A single environment, for which every step runs a forward pass on a batch of one.

## What it does
Flags, in training, a network that chooses the action for a single observation in every environment step:
`net(torch.as_tensor(obs).unsqueeze(0))`, `actor(state[None])`, `net(obs).argmax().item()`. The call may be
in the loop itself or in a function that is called once per step (`agent.act(obs)`).

The rule does not flag several environments that are stepped in turn (RL406), evaluation, demonstrations,
and code that runs on whole batches.

The rule is opt-in: most agents are first written for one environment, and whether steps or updates dominate
differs between programs.

## Why is it slow
For the small networks of reinforcement learning, a forward pass takes nearly as long for one row as for
many: the time goes into Python and into dispatching each layer. On a GPU every step also pays for a copy to
the device and back, while the GPU is nearly idle. Several environments share this overhead.

## Example
```python
import torch
from torch import nn


def train(env, policy: nn.Module, optimizer: torch.optim.Optimizer, steps: int) -> None:
    obs, _ = env.reset()
    for _ in range(steps):
        logits = policy(torch.as_tensor(obs).unsqueeze(0))
        distribution = torch.distributions.Categorical(logits=logits)
        action = distribution.sample()
        obs, reward, terminated, truncated, _ = env.step(action.item())
        loss = -distribution.log_prob(action).mean() * reward
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if terminated or truncated:
            obs, _ = env.reset()
```
Use instead (by hand):
```python
import torch
from torch import nn


def train(envs, policy: nn.Module, optimizer: torch.optim.Optimizer, steps: int) -> None:
    obs, _ = envs.reset()
    for _ in range(steps):
        distribution = torch.distributions.Categorical(logits=policy(torch.as_tensor(obs)))
        actions = distribution.sample()
        obs, rewards, _, _, _ = envs.step(actions.numpy())
        loss = -(distribution.log_prob(actions) * torch.as_tensor(rewards)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

## Fix safety
There is no fix. `gymnasium.make_vec(id, num_envs=n)` creates the environments, which reset themselves at
the end of an episode; buffers and returns then have a row per environment. The transitions and their order
change, and there are more of them between two updates, so hyperparameters may need tuning.

## References
- https://gymnasium.farama.org/api/registry/#gymnasium.make_vec
- https://gymnasium.farama.org/api/vector/
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Driver, Finding, Rule, SemanticModel, descendants, environments
from rlint.rules.environments._shared.steps import is_for_training, is_training
from rlint.rules.environments.rl602_single_env_rollout.one_env import runs_network, sees_one

ADVICE = (
    "Step several environments at once, `gymnasium.make_vec(id, num_envs=n)`, and choose all actions in one "
    "forward pass"
)


class SingleEnvRollout(Rule):
    code = "RL602"
    name = "single-env-rollout"
    seeds = ("S4.2", "S1.E1")
    claims = ("time",)
    opt_in = True
    visits = (ast.Call,)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        if not node.args or not isinstance(node.func, (ast.Name, ast.Attribute)):
            return
        if not runs_network(node, model) or not sees_one(node, model):
            return
        if not per_step(node, model) or is_reported_by_other_rule(node, model):
            return
        text = " ".join(model.source.text(node.func).split())
        yield self.finding(
            model,
            node,
            f"`{text}` runs a forward pass on a batch of one in every step of a single environment",
            advice=ADVICE,
        )


def per_step(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs once in each step of an environment, in training."""
    beat = model.frequency.cadence(call)
    if beat is None or Driver.ENVIRONMENT_STEP not in beat.drivers:
        return False
    # in a loop that steps the environment and learns, or in one that calls it to collect
    if Driver.GRADIENT_STEP in beat.drivers | beat.nested:
        learns: bool = is_training(call, model)
        return learns
    return any(is_for_training(way) for way in model.usage.ways_from_training(call))


def is_reported_by_other_rule(call: ast.Call, model: SemanticModel) -> bool:
    """Whether several environments are stepped in turn here (RL406), or another network of this function was
    reported.
    """
    function = model.function(call)
    loops = model.frequency.loops(call)
    if any(
        environments.stepped_in_turn(step, model) is not None
        and any(loop in loops for loop in model.frequency.loops(step)[:1])
        for step in model.names.calls_named("step", function)
    ):
        return True
    before = model.dataflow.order.position(call)
    return any(
        isinstance(other, ast.Call)
        and other is not call
        and model.function(other) is function
        and model.dataflow.order.position(other) < before
        and other.args
        and isinstance(other.func, (ast.Name, ast.Attribute))
        and runs_network(other, model)
        and sees_one(other, model)
        for other in descendants(function or model.syntax.module)
    )
