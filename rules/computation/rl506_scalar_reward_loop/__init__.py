"""Returns, advantages or discounted sums, computed in a way that costs more than one pass.

## What it does
Flags three ways to compute what comes of rewards, in code that runs per episode or per update:

- a list that the loop fills from the front: `returns.insert(0, value)` or `returns = [value] + returns`;
- a sum of all later rewards that is computed anew for each step: `sum(rewards[t:])`,
  `np.dot(rewards[t:], …)`, or a second loop from `t` to the end;
- a recurrence over the steps of tensors, number by number or row by row
  (`delta = rewards[t] + gamma * values[t + 1] - values[t]`).

Left alone is what is done right: one pass from the back over Python numbers, or over items or rows of an
array; windows of a few steps (`rewards[t:t + n]`); and lists that are no rewards.

## Why is it slow
`insert(0, …)` moves all items that are there already, and adding lists copies them: the cost grows with
the square of the episode's length. So it does where each step adds up the rest of the episode.

A number taken out of a tensor is a tensor again. Each addition and product of such numbers goes through
torch's dispatcher and allocates another one, which takes some fifty times as long as the same operation
on Python numbers. On an accelerator each is a kernel of its own. It is the same for rows of a few numbers,
one for each environment: what takes time is to start the operations, some six for each step of a rollout.

## Example
```python
def discounted(episodes, gamma):
    every = []
    for rewards in episodes:
        returns = []
        ret = 0.0
        for reward in reversed(rewards):
            ret = reward + gamma * ret
            returns.insert(0, ret)
        every.append(returns)
    return every


def train(env, policy, optimizer, epochs):
    for _ in range(epochs):
        episodes = env.collect(policy)
        loss = policy.loss(discounted(episodes, 0.99))
        loss.backward()
        optimizer.step()
```
Use instead:
```python
def discounted(episodes, gamma):
    every = []
    for rewards in episodes:
        returns = []
        ret = 0.0
        for reward in reversed(rewards):
            ret = reward + gamma * ret
            returns.append(ret)
        returns.reverse()
        every.append(returns)
    return every


def train(env, policy, optimizer, epochs):
    for _ in range(epochs):
        episodes = env.collect(policy)
        loss = policy.loss(discounted(episodes, 0.99))
        loss.backward()
        optimizer.step()
```

## Fix safety
There is a fix for lists that are filled from the front: append, and reverse the list behind the loop.
It is offered for a variable of the function that begins as an empty list, is filled in this loop alone and
not looked at meanwhile, apart from its length and its ends (`returns[0]` becomes `returns[-1]`). It is
safe, unless an exception could end the loop and be caught by a block around it, behind which the list is
used.

For the other two there is advice. A sum in another order is rounded otherwise; and Python computes in
double precision where tensors do in single precision, so that the results differ in their last digits.
Numbers that carry a gradient must stay tensors.

## References
- https://wiki.python.org/moin/TimeComplexity
- https://arxiv.org/abs/1506.02438
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rlint.rule import Finding, Heat, Rule, SemanticModel, descendants, regex
from rlint.rules.computation.rl506_scalar_reward_loop.fronts import (
    GrownFront,
    append_fix,
    front_of,
    is_first,
    is_list,
    loop_of,
)
from rlint.rules.computation.rl506_scalar_reward_loop.later_sums import SUMS, summed_later
from rlint.rules.computation.rl506_scalar_reward_loop.tensor_recurrences import (
    Recurrence,
    tensor_recurrence,
)

_WORDS = regex(
    r"(^|_)(r|g|rs|rews?|rewards?|rets?|returns?|gaes?|advs?|advantages?|disc|discount(ed)?s?|gamma|deltas?"
    r"|td|rtgs?|togo)(_|$|\d)",
    re.IGNORECASE,
)


class ScalarRewardLoop(Rule):
    """RL506."""

    code = "RL506"
    name = "scalar-reward-loop"
    seeds = ("S1.E3",)
    claims = ("time", "exp")
    heat = Heat.WARM
    visits = (ast.Assign, ast.Call, ast.For)
    callees = SUMS | {"insert"}

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a list filled from the front, for sums computed anew, for small tensors."""
        front = front_of(node, model)
        if front is not None:
            yield from self._front(front, model)
            return
        if isinstance(node, ast.Assign):
            return
        later = summed_later(node, model)
        if later is not None:
            sequence, loop = later
            yield self.finding(
                model,
                node,
                f"All later items of `{model.source.text(sequence)}` are added up anew for each step of "
                f"`{model.analysis.loops.header(loop)}`: the cost grows with the square of the length",
                advice="Go through it once, from the back, keep the sum so far "
                "(`ret = reward + gamma * ret`), append it to a list, and reverse that at the end",
            )
        elif isinstance(node, ast.For):
            recurrence = tensor_recurrence(node, model)
            around = model.parent(node)
            if recurrence is not None and isinstance(around, ast.For) and tensor_recurrence(around, model):
                return  # said of the loop around it
            if recurrence is not None and recurrence.by_rows:
                yield self._rows(node, recurrence, model)
            elif recurrence is not None:
                held = model.source.text(recurrence.held)
                yield self.finding(
                    model,
                    node,
                    f"The recurrence takes `{held}` number by number, and each is a tensor: "
                    "every operation on one costs many times that on a Python number",
                    advice="Take the numbers out once, before the loop (`.tolist()`, of what carries no "
                    "gradient), compute with Python numbers, and make one tensor of the results",
                )

    def _rows(self, loop: ast.For, recurrence: Recurrence, model: SemanticModel) -> Finding:
        held = model.source.text(recurrence.held)
        if recurrence.by_pairs:
            return self.finding(
                model,
                loop,
                f"Operations of torch run on one row of `{held}` for each pair of steps: the number of "
                "operations grows with the square of the length, and each costs its start",
                advice="Go through the steps once, from the back (a lambda return is "
                "`ret = r[t] + gamma * ((1 - lam) * v[t + 1] + lam * ret)`), or compute all steps of one "
                "distance at once: `table[:, :-n]`",
            )
        return self.finding(
            model,
            loop,
            f"Each step of the recurrence runs {recurrence.operations} operations of torch on one row of "
            f"`{held}`: where rows are short, to start them (kernels, on an accelerator) takes longer than "
            "to compute them",
            advice="Take the tensors out once, before the loop (`.cpu().numpy()`, of what carries no "
            "gradient), compute row by row with numpy, and make one tensor of the results",
        )

    def _front(self, front: GrownFront, model: SemanticModel) -> Iterator[Finding]:
        loop = loop_of(front, model)
        if loop is None or not model.frequency.may_be_warm(front.statement):
            return
        parts = [model.source.text(front.held), *_names(front.value), *_names(getattr(loop, "iter", None))]
        if not any(_WORDS.search(part.rpartition(".")[2]) for part in parts):
            return
        if model.analysis.loops.is_bounded(loop):
            return  # a few passes
        if not is_list(front, model) or not is_first(front, model):
            return
        held = model.source.text(front.held)
        if isinstance(front.statement, ast.Assign):
            message = f"`{held}` is copied for each item that is put before it"
        else:
            message = f"`{held}.insert(0, …)` moves all items that are there already"
        yield self.finding(
            model,
            front.statement.value if isinstance(front.statement, ast.Expr) else front.statement,
            f"{message}: the cost grows with the square of the length",
            fix=append_fix(front, model),
            advice="Append, and reverse the list once behind the loop (or `appendleft` to a deque)",
        )


def _names(expression: ast.expr | None) -> list[str]:
    """The names and attributes in an expression."""
    return [
        node.id if isinstance(node, ast.Name) else node.attr
        for node in (descendants(expression) if expression is not None else ())
        if isinstance(node, (ast.Name, ast.Attribute))
    ]
