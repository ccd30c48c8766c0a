"""Returns, advantages or discounted sums computed in quadratic time or number by number on tensors.

## What it does
Flags these ways to compute returns or advantages in code that runs per episode or per update:

- a list that the loop fills from the front: `returns.insert(0, value)` or `returns = [value] + returns`;
- a sum of all later (or earlier) rewards that is recomputed for each step: `sum(rewards[t:])`,
  `np.dot(rewards[t:], …)`, `weights @ x[t:]`, a generator, `map` or `reduce` over them, a second loop from
  `t` to the end, also of rewards in transitions (`steps[t + k][2] * gamma**k`), and of a list that loses its
  first item each time (`rewards = rewards[1:]`);
- a recurrence over time steps that computes with tensors number by number or row by row (`delta =
  rewards[t] + gamma * values[t + 1] - values[t]`), also if only its start is a tensor (`ret = values[-1]`,
  then `ret = reward + gamma * ret`), or n-step returns that a second loop adds up from tensors
  (`ret += gamma**n * rewards[:, t + n]`), also in a `while` loop that counts by hand and over `x.unbind(0)`,
  if an attribute carries the result (`self.ret = reward[t] + self.gamma * self.ret`), or if only
  `torch.stack(returns)` after the loop shows that the results are tensors;
- a recurrence that converts one row after the other by a normaliser of tensors
  (`norm.denormalize(values[t + 1])`), which one call for all rows before the loop replaces; likely;
- a loop over the next rewards (`for i, reward in enumerate(rewards[t : t + n]): value += reward * gamma**i`),
  or the sum of such a comprehension, in hot code that computes it for each position or each sample.

The rule does not flag a single backward loop over Python numbers, or over items or rows of an array;
sums of a few numbers (`sum(rewards[t:t + n])`); and lists that do not hold rewards.

Recurrences over rows have a low impact where a simulator on a device steps thousands of environments.

## Why is it slow
`insert(0, …)` moves all existing items, and concatenating lists copies them, so the cost is quadratic in
the length of the episode. So is it if each step sums the rest of the episode.

Indexing a tensor returns a tensor. Each addition or product of such scalars goes through torch's dispatcher
and allocates a new tensor, which takes some fifty times as long as the same operation on Python numbers. On
an accelerator each operation launches a kernel. Short rows, with one number per environment, are not much
better: most of the time goes into launching about six operations for each step of a rollout.

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
There is a fix for lists that are filled from the front: append, and reverse the list after the loop. It is
offered for a local variable that begins as an empty list, is filled only in this loop, and is not read in
between, apart from its length and its ends (`returns[0]` becomes `returns[-1]`). It is safe, unless an
exception could end the loop and be caught by a block around it, after which the list is used.

For the others there is only advice. A sum in another order is rounded differently, and Python numbers
are float64 where tensors are float32, so results differ in the last digits. Numbers that require a gradient
must stay tensors.

## References
- https://wiki.python.org/moin/TimeComplexity
- https://arxiv.org/abs/1506.02438
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rlint.rule import Finding, Heat, Rule, SemanticModel, descendants, regex, torch_settings
from rlint.rules.computation.rl506_scalar_reward_loop.added_losses import adds_up_a_loss
from rlint.rules.computation.rl506_scalar_reward_loop.carried_values import computed_alone
from rlint.rules.computation.rl506_scalar_reward_loop.converted_rows import ConvertedRows, converted_rows
from rlint.rules.computation.rl506_scalar_reward_loop.discounted_sums import discounted_sum
from rlint.rules.computation.rl506_scalar_reward_loop.fronts import (
    GrownFront,
    append_fix,
    front_of,
    is_first,
    is_list,
    loop_of,
)
from rlint.rules.computation.rl506_scalar_reward_loop.later_sums import SUMS, adds_earlier, summed_later
from rlint.rules.computation.rl506_scalar_reward_loop.tensor_recurrences import (
    Recurrence,
    tensor_recurrence,
    weighs_by_predictions,
)

_WORDS = regex(
    r"(^|_)(r|g|rs|rews?|rewards?|rets?|returns?|gaes?|advs?|advantages?|disc|discount(ed)?s?|gamma|deltas?"
    r"|td|rtgs?|togo)(_|$|\d)",
    re.IGNORECASE,
)
_LONG_ROWS = "a simulator on a device has thousands of environments, so that rows are long"

_COLUMNS = (
    "each operation computes one step of all episodes of a batch, which took many more steps to collect"
)

_IMAGINED = "the steps are those that a model of the world imagines: few of them, of many states each"


class ScalarRewardLoop(Rule):
    """RL506."""

    code = "RL506"
    name = "scalar-reward-loop"
    seeds = ("S1.E3",)
    claims = ("time", "exp")
    heat = Heat.WARM
    visits = (ast.Assign, ast.BinOp, ast.Call, ast.For, ast.While)
    callees = SUMS | {"insert"}

    def size_of(self, node: ast.AST, model: SemanticModel) -> int | None:
        """Return the number of steps of the recurrence: if the loop does not tell, those of a rollout."""
        passes = model.sizes.passes(node)
        return passes if passes is not None else model.sizes.rollout()

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a list filled from the front, for recomputed sums, for small tensors."""
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
            return
        front = front_of(node, model)
        if front is not None:
            yield from self._front(front, model)
            return
        if isinstance(node, ast.Assign):
            return
        later = summed_later(node, model)
        if later is not None:
            sequence, loop = later
            held = model.source.text(sequence)
            which = "earlier" if adds_earlier(node, sequence, model) else "later"
            if isinstance(loop, ast.Call):
                around = f"map(…, {model.source.text(loop.args[1])})"
            else:
                around = model.analysis.loops.header(loop)
            yield self.finding(
                model,
                node,
                f"All {which} items of `{held}` are summed again in every iteration of `{around}`: the "
                "cost is quadratic in the length",
                related=[(loop, "This loop sums them again for each step")],
                advice="Iterate over it once (backwards for later items), keep the running sum "
                "(`ret = reward + gamma * ret`), append it to a list, and reverse that at the end",
            )
        elif isinstance(node, (ast.For, ast.While)):
            rows = converted_rows(node, model) if isinstance(node, ast.For) else None
            if rows is not None:
                yield self._converted(rows, model)
                return
            recurrence = tensor_recurrence(node, model)
            outer = model.parent(node)
            discounted = recurrence is None and isinstance(node, ast.For) and discounted_sum(node, model)
            found = recurrence is not None or discounted
            if found and isinstance(outer, (ast.For, ast.While)) and tensor_recurrence(outer, model):
                return  # reported for the enclosing loop
            if recurrence is not None and recurrence.by_rows:
                yield self._rows(node, recurrence, model)
            elif recurrence is not None:
                held = model.source.text(recurrence.held)
                does = "computes" if recurrence.written else "reads"
                yield self.finding(
                    model,
                    node,
                    f"The recurrence {does} `{held}` number by number, and each is a tensor: every operation "
                    f"on it costs many times as much as on a Python number",
                    advice="Call `.tolist()` once before the loop (if no gradient is needed), compute with "
                    "Python numbers, and create one tensor from the results",
                    workload="advantages",
                    related=[(outer, "This loop repeats the recurrence")]
                    if isinstance(outer, ast.For)
                    else [],
                )
            elif discounted:
                yield self._discounted(node, "loop", model)
        elif isinstance(node, ast.Call) and discounted_sum(node, model):
            yield self._discounted(node, "comprehension", model)

    def _discounted(self, node: ast.AST, by: str, model: SemanticModel) -> Finding:
        return self.finding(
            model,
            node,
            f"The {by} adds up discounted rewards one by one in Python, again for each position",
            advice="Compute the discounts once (`discounts = gamma ** np.arange(n)`), and sum by one "
            "product: `rewards[t : t + n] @ discounts`",
        )

    def _converted(self, rows: ConvertedRows, model: SemanticModel) -> Finding:
        called = " ".join(model.source.text(rows.calls[0].func).split())
        held = model.source.text(rows.held)
        often = "in each step" if len(rows.calls) == 1 else f"{len(rows.calls)} times in each step"
        return self.finding(
            model,
            rows.calls[0],
            f"`{called}` converts one row of `{held}` {often} of the recurrence, with several tensor "
            "operations each time",
            advice="Convert all rows at once before the loop, and index the result: "
            f"`values = {called}({held})`",
            related=[(call, "Converts a row, too") for call in rows.calls[1:]],
            assumes=f"`{called}` treats each row alone",
            workload="advantages",
        )

    def _rows(self, loop: ast.For | ast.While, recurrence: Recurrence, model: SemanticModel) -> Finding:
        held = model.source.text(recurrence.held)
        on_device = model.program.sets(torch_settings.DEVICE_ENVIRONMENTS, anywhere=True)
        minor = _LONG_ROWS if on_device else None
        if not recurrence.by_pairs and model.once(adds_up_a_loss, loop):
            return self._losses(loop, recurrence, minor, model)
        if recurrence.by_columns and not recurrence.by_pairs:
            minor = minor or _COLUMNS
        if model.once(weighs_by_predictions, loop):
            minor = minor or _IMAGINED
        if recurrence.carried:
            return self.finding(
                model,
                loop,
                f"`{held}` is a tensor, and each step of the recurrence runs {recurrence.operations} tensor "
                f"operations on it: if it has few numbers, dispatching them takes longer than computing them",
                advice=f"Convert `{held}` once before the loop (`.item()`, or `.cpu().numpy()` for several "
                "environments, if no gradient is needed), and create one tensor from the results",
                workload="advantages",
                minor=minor,
            )
        if recurrence.by_pairs:
            return self.finding(
                model,
                loop,
                f"Tensor operations run on one row of `{held}` for each pair of steps: their number is "
                f"quadratic in the length, and each has launch overhead",
                advice="Iterate over the steps once, backwards (a lambda return is "
                "`ret = r[t] + gamma * ((1 - lam) * v[t + 1] + lam * ret)`), or compute all pairs of one "
                "distance at once: `table[:, :-n]`",
                workload="advantages",
                minor=minor,
            )
        if recurrence.by_window:
            return self.finding(
                model,
                loop,
                f"Tensor operations run on one row of `{held}` for each step and each of the steps after it: "
                f"with short rows, dispatching them (and launching kernels) takes longer than computing them",
                advice="Compute all steps of one distance at once (`ret[:, :-n] += gamma**n * r[:, n:]`), or "
                "convert once before the loops (`.cpu().numpy()`, if no gradient is needed)",
                workload="advantages",
                minor=minor,
            )
        of = f" of `{held}`"
        assumes = None
        if recurrence.stacked is not None:
            of = f", of which `{recurrence.stacked.join}` joins the results"
            if not isinstance(recurrence.held, ast.Name):
                assumes = "most operands of the recurrence are tensors"
        alone = ", ".join(f"`{name}`" for name in computed_alone(loop)[:3])
        also = f"; or compute what uses no earlier result ({alone}) before it, for all rows" if alone else ""
        return self.finding(
            model,
            loop,
            f"Each step of the recurrence runs {recurrence.operations} tensor operations on one row{of}: "
            f"with short rows, dispatching them (and launching kernels) takes longer than computing them",
            advice="Convert once before the loop (`.cpu().numpy()`, if no gradient is needed), compute row "
            f"by row with NumPy, and create one tensor from the results{also}",
            assumes=assumes,
            workload="advantages",
            minor=minor,
        )

    def _losses(
        self, loop: ast.For | ast.While, recurrence: Recurrence, minor: str | None, model: SemanticModel
    ) -> Finding:
        return self.finding(
            model,
            loop,
            f"Each step of the recurrence runs {recurrence.operations} tensor operations, to add its part to "
            f"the loss: dispatching them, and those of `backward`, takes longer than computing them",
            advice="Compute the returns or advantages alone in the loop, from numbers, and the losses of all "
            "steps at once: stack the outputs of the network, and sum",
            workload="advantages",
            minor=minor,
        )

    def _front(self, front: GrownFront, model: SemanticModel) -> Iterator[Finding]:
        loop = loop_of(front, model)
        if loop is None or not model.frequency.may_be_warm(front.statement):
            return
        parts = [*_names(front.held), *_names(front.value), *_names(getattr(loop, "iter", None))]
        if not any(_WORDS.search(part) for part in parts):
            return
        if model.analysis.loops.is_bounded(loop):
            return  # a few iterations
        if not is_list(front, model) or not is_first(front, model):
            return
        held = model.source.text(front.held)
        if isinstance(front.statement, ast.Assign):
            message, workload = f"`{held}` is copied for every item that is prepended", "targets"
        else:
            message, workload = f"`{held}.insert(0, …)` moves all existing items", "returns"
        yield self.finding(
            model,
            front.statement.value if isinstance(front.statement, ast.Expr) else front.statement,
            f"{message}: the cost is quadratic in the length",
            fix=append_fix(front, model),
            advice="Append, and reverse the list once after the loop (or `appendleft` to a deque)",
            workload=workload,
        )


def _names(expression: ast.expr | None) -> list[str]:
    """Return the names and attributes in an expression."""
    return [
        node.id if isinstance(node, ast.Name) else node.attr
        for node in (descendants(expression) if expression is not None else ())
        if isinstance(node, (ast.Name, ast.Attribute))
    ]
