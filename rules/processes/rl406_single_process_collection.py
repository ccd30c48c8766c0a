"""Several environments, stepped one after the other by a Python loop.

## What it does
Flags loops and comprehensions that step one environment of several in each pass: `for env in envs:
env.step(...)`, `envs[i].step(actions[i])`, `[env.step(a) for env, a in zip(envs, actions)]`.

Not flagged are the `step` of a class that stands for all of them (a vectorised environment, whose caller
asks the policy once), environments that run one after the other to the end, a few that are written out, and
what runs in one of several workers already: it is told its rank or number, or several processes start it.

The rule is opt-in: how much there is to gain hangs on what a step costs, and the change reaches from the
environments to the buffer.

## Why is it slow
The step of a small environment takes less time than the network that chooses the action, and in such a loop
the network mostly runs once for each environment. One forward pass for all observations is nearly all there
is to gain. Processes help where a step takes much longer than handing its results over does, which is about
a tenth of a millisecond; with cheap environments they make it slower.

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
There is no fix. Environments have to be made together (`gymnasium.make_vec(id, num_envs=n)`), and reset
themselves at the end of an episode, so that the code around the loop changes as well. Networks give the
same up to rounding for all rows at once; sampled actions come in another order from the random stream.

## References
- https://gymnasium.farama.org/api/vector/
- https://gymnasium.farama.org/api/registry/#gymnasium.make_vec
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import ClassSummary, Finding, Rule, SemanticModel, descendants, environments, regex

ADVICE = (
    "Batch the policy first: `gymnasium.make_vec(id, num_envs=n)` or a `SyncVectorEnv`, and one forward for "
    "all observations; processes (`AsyncVectorEnv`) only where a step takes much longer than 0.1 ms"
)

_NUMBERS = regex(r"(^|_)(rank|(worker|process|proc|actor)_?(id|idx|index|rank|num|number))$")
"""Which of several workers one is."""


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
        batched = (
            "each with a forward of its own" if runs_policy(node, model) else "and each step is waited for"
        )
        yield self.finding(
            model,
            node,
            f"One process steps the environments of `{text}` one after the other, {batched}",
            advice=ADVICE,
        )


def stands_for_all(call: ast.Call, model: SemanticModel) -> bool:
    """Is it a vectorised environment that steps its parts?"""
    cls = model.class_of(call)
    if cls is None:
        return False
    function = model.function(call)
    steps = function is not None and "step" in function.name
    return steps and any(model.method(cls, name) is not None for name in ("reset", "reset_all", "reset_wait"))


def is_one_of_several(call: ast.Call, model: SemanticModel) -> bool:
    """Does this run in one of several workers, each of which has its part of the environments?"""
    if any(start.many for start in model.threads.runners(call).starts):
        return True
    function = model.symbols.function_at(call)
    told = function.parameters if function is not None else ()
    cls = model.class_of(call)
    owner = model.module.classes.get(model.syntax.qualname(cls)) if cls is not None else None
    for each in model.index.ancestry(owner) if owner is not None else ():
        # also where a subclass hands on `*args` alone
        made = model.index.method(each, "__init__") if isinstance(each, ClassSummary) else None
        told = (*told, *(made.parameters if made is not None else ()))
    return any(_NUMBERS.search(name) for name in told)


def again_in_loop(call: ast.Call, model: SemanticModel) -> bool:
    """Does the same loop step them before, so that it has been told of?"""
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
    """Does the loop ask a network for the action of one environment at a time?"""
    loop = model.frequency.loops(call)[0]
    return any(
        isinstance(node, ast.Call) and model.gradients.gives_gradient(node) for node in descendants(loop)
    )
