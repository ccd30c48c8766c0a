"""Several environments that are stepped one by one in a Python loop.

## What it does
Flags loops and comprehensions that step one of several environments in each iteration: `for env in envs:
env.step(...)`, `envs[i].step(actions[i])`, `[env.step(a) for env, a in zip(envs, actions)]`.

The rule does not flag:

- the `step` of a class that wraps all environments (a vectorised environment, whose caller runs the policy
  once);
- environments that run to the end of an episode one after the other;
- a few calls of `step` written out without a loop;
- code that already runs in one of several workers: it receives a rank or index, or several processes start
  it.

The rule is opt-in: the gain depends on the cost of a step, and the change affects everything from the
environments to the buffer.

## Why is it slow
A step of a small environment takes less time than the policy's forward pass, and such a loop usually runs
the network once per environment. Nearly all of the gain comes from one batched forward pass for all
observations. Processes help only where a step takes much longer than sending its results to another
process, about a tenth of a millisecond. With cheap environments, they make collection slower.

## Example
```python
import torch
from torch import nn


def collect(envs: list, policy: nn.Module, observations: list, steps: int) -> list:
    rewards = []
    for _ in range(steps):
        for i, env in enumerate(envs):
            with torch.no_grad():
                logits = policy(torch.as_tensor(observations[i]))
            observations[i], reward, terminated, truncated, _ = env.step(int(logits.argmax()))
            rewards.append(reward)
            if terminated or truncated:
                observations[i], _ = env.reset()
    return rewards
```
Use instead (by hand):
```python
import gymnasium as gym
import torch
from torch import nn


def collect(envs: gym.vector.VectorEnv, policy: nn.Module, observations, steps: int) -> list:
    rewards = []
    for _ in range(steps):
        with torch.no_grad():
            logits = policy(torch.as_tensor(observations))
        observations, reward, _, _, _ = envs.step(logits.argmax(1).numpy())
        rewards.extend(reward)
    return rewards
```

## Fix safety
There is no fix. Vectorised environments (`gymnasium.make_vec(id, num_envs=n)`) reset themselves at the end
of an episode, so the code around the loop changes as well. A batched forward pass equals single ones up to
rounding; sampled actions are drawn from the random stream in another order.

## References
- https://gymnasium.farama.org/api/vector/
- https://gymnasium.farama.org/api/registry/#gymnasium.make_vec
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import ClassSummary, Finding, Rule, SemanticModel, descendants, environments, regex

ADVICE = (
    "Batch the policy first: `gymnasium.make_vec(id, num_envs=n)` or a `SyncVectorEnv`, and run one forward "
    "pass for all observations; processes (`AsyncVectorEnv`) only where a step takes much longer than 0.1 ms"
)

_NUMBERS = regex(r"(^|_)(rank|(worker|process|proc|actor)_?(id|idx|index|rank|num|number))$")
"""Names for the index of one of several workers."""


class SingleProcessCollection(Rule):
    code = "RL406"
    name = "single-process-collection"
    seeds = ("S4.5", "S1.E1")
    claims = ("time",)
    opt_in = True
    visits = (ast.Call,)
    callees = frozenset({"step"})

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, ast.Attribute) or node.func.attr != "step":
            return
        held = environments.stepped_in_turn(node, model)
        if held is None or stands_for_all(node, model) or is_one_of_several(node, model):
            return
        if again_in_loop(node, model):
            return
        text = " ".join(model.source.text(held).split())
        batched = "with one forward pass each" if runs_policy(node, model) else "and waits for each step"
        yield self.finding(
            model,
            node,
            f"One process steps the environments of `{text}` one by one, {batched}",
            advice=ADVICE,
        )


def stands_for_all(call: ast.Call, model: SemanticModel) -> bool:
    """Whether it is a vectorised environment that steps its parts."""
    cls = model.class_of(call)
    if cls is None:
        return False
    function = model.function(call)
    steps = function is not None and "step" in function.name
    return steps and any(model.method(cls, name) is not None for name in ("reset", "reset_all", "reset_wait"))


def is_one_of_several(call: ast.Call, model: SemanticModel) -> bool:
    """Whether this runs in one of several workers, each with a part of the environments."""
    if any(start.many for start in model.threads.runners(call).starts):
        return True
    function = model.symbols.function_at(call)
    described = function.parameters if function is not None else ()
    cls = model.class_of(call)
    owner = model.module.classes.get(model.syntax.qualname(cls)) if cls is not None else None
    for each in model.index.ancestry(owner) if owner is not None else ():
        # also if a subclass passes on `*args` only
        made = model.index.method(each, "__init__") if isinstance(each, ClassSummary) else None
        described = (*described, *(made.parameters if made is not None else ()))
    return any(_NUMBERS.search(name) for name in described)


def again_in_loop(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the same loop steps them earlier, so that it is already reported."""
    loop = model.frequency.loops(call)[0]
    order = model.dataflow.order
    return any(
        order.position(other) < order.position(call)
        and model.frequency.loops(other)[:1] == [loop]
        and environments.stepped_in_turn(other, model) is not None
        for other in model.names.calls_named("step", model.function(call))
        if other is not call
    )


def runs_policy(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the loop runs a network for the action of one environment at a time."""
    loop = model.frequency.loops(call)[0]
    return any(
        isinstance(node, ast.Call) and model.gradients.gives_gradient(node) for node in descendants(loop)
    )
