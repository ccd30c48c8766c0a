"""A mean, maximum or other statistic that is recomputed over the whole history each time.

## What it does
Flags `np.mean(scores)` and similar calls (`sum`, `max`, `np.std`, `statistics.mean`,
`np.array(scores).mean()`, `sorted(scores)[-1]`, `wins.count(True)`, a comprehension over the whole list) in
each step or episode of training, where the list is created once and only grows. The list may be a local or
global variable, an attribute, an entry of such a dict (`log["loss"]`), the argument of a function that
computes the statistic, or an array that grows by concatenation; no code empties, cuts or replaces it. If
other files read the list and no file assigns another one, the finding is likely, with advice only. Also
flags statistics of all rows of a replay buffer, such as `self.rewards[: self.size].std()` in `sample`,
`self.priorities.max()` for each new transition, or `sum(self.leaves)` of a sum tree.

A list that an attribute holds from the constructor on, and that grows in each step, is also flagged where it
is read once per episode or at intervals, with low impact.

The rule does not flag windows (`scores[-100:]`, a `deque(maxlen=100)`), lists that are recreated for each
episode or update, other statistics at an interval or once at the end, and a list that gains one item per
episode in a loop of few episodes.

## Why is it slow
Each call reads all items, and NumPy first converts the list to an array. The cost of one call grows
linearly with the length of training, and the total cost quadratically. The cost of a running sum does not
grow.

The cost is small while a list is short, or where it gains one item per episode. A list that gains an item
per step soon becomes long.

## Example
```python
import numpy as np


def train(env, policy, steps):
    rewards = []
    state = env.reset()
    for step in range(steps):
        state, reward, done, info = env.step(policy(state))
        rewards.append(reward)
        print(f"step {step}: {np.mean(rewards):.3f} on average")
```
Use instead:
```python
import numpy as np


def train(env, policy, steps):
    rewards = []
    rewards_sum = 0
    state = env.reset()
    for step in range(steps):
        state, reward, done, info = env.step(policy(state))
        rewards.append(reward)
        rewards_sum += rewards[-1]
        print(f"step {step}: {rewards_sum / len(rewards):.3f} on average")
```

## Fix safety
Unsafe, and only for sums and means: the fix keeps a running sum beside the list. The sum is rounded in
another order, the items must be numbers, and the result may be a Python number instead of a NumPy scalar.

There is a fix only where one statement sets the list, one statement extends it, and a mean is taken only
after that. Everything else gets advice: keep the largest item so far, or the sums of the items and of their
squares. Often the intention was to use only the latest items.

## References
- https://numpy.org/doc/stable/reference/generated/numpy.mean.html
- https://docs.python.org/3/library/collections.html#collections.deque
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    FUNCTIONS,
    LOOPS,
    Applicability,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    TypeTag,
    descendants,
    last_names,
)
from rlint.rules.buffers.rl113_whole_history_statistic.history import (
    History,
    given_history,
    history_of,
    is_read_again,
    is_worth_it,
    sum_edits,
)
from rlint.rules.buffers.rl113_whole_history_statistic.statistics_read import METHODS, STATISTICS, statistic
from rlint.rules.buffers.rl113_whole_history_statistic.stored_rows import all_rows_of_store, whole_ring

MEANS = frozenset({"numpy.mean", "numpy.average", "statistics.mean", "statistics.fmean"})
SUMS = frozenset({"numpy.sum", "builtins.sum"})
LATEST = "use only the latest items (`deque(maxlen=...)`) if that is intended"
_SQUARES = "Keep running sums of the items and of their squares"
ADVICE = {
    **dict.fromkeys(("mean", "average", "fmean", "nanmean"), "Keep a running sum"),
    **dict.fromkeys(("sum", "nansum"), "Keep a running sum"),
    **dict.fromkeys(("max", "amax", "nanmax"), "Keep the largest item so far"),
    **dict.fromkeys(("min", "amin", "nanmin"), "Keep the smallest item so far"),
    **dict.fromkeys(("std", "var", "nanstd", "nanvar"), _SQUARES),
    **dict.fromkeys(("stdev", "pstdev", "variance", "pvariance"), _SQUARES),
    "count": "Count when items are added",
    "set": "Keep a set of the items beside the list",
    "unique": "Keep a set of the items beside the list",
    **dict.fromkeys(("sorted", "sort"), "Keep the largest items so far, or insert each with `bisect.insort`"),
}


_MINOR = "reads the list once per episode or at intervals, between many steps"


class WholeHistoryStatistic(Rule):
    """RL113."""

    code = "RL113"
    name = "whole-history-statistic"
    claims = ("time", "exp")
    heat = Heat.WARM
    visits = (ast.Call,)
    callees = last_names(*STATISTICS) | METHODS | {"count"}

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a call that reads all of a list that only grows."""
        assert isinstance(node, ast.Call)
        yield from self._of_store(node, model)
        known = statistic(node, model)
        if known is None:
            return
        what, shown, looked_at = known
        anchor = _unless_empty(node, looked_at, model)
        each_pass = model.frequency.runs_each_pass(anchor) or model.frequency.runs_by_role(anchor)
        record = looked_at.value if isinstance(looked_at, ast.Subscript) else looked_at
        if not each_pass and not isinstance(record, ast.Attribute):
            return
        history = given_history(looked_at, model) or history_of(looked_at, model)
        if history is None or not is_worth_it(history, node, model):
            return
        by_other_file = history.read_by_other_file
        if by_other_file and not (each_pass and model.frequency.heat_of(node).level is Heat.HOT):
            return
        of_array = any(isinstance(growth, ast.Assign) for growth in history.growths)
        if not each_pass and (of_array or not is_read_again(history, node, model)):
            return
        loops = model.frequency.loops(node)
        function = model.function(node)
        where = f"on every call of `{getattr(function, 'name', '')}`"
        if loops:
            where = f"in every iteration of `{model.analysis.loops.header(loops[0])}`"
        holder = model.source.text(history.holder)
        yield self.finding(
            model,
            node,
            f"`{shown}` reads all items of `{holder}`, which only grows, {where}",
            fix=build_fix(node, looked_at, history, model) if not by_other_file else None,
            advice=f"{ADVICE.get(what, 'Compute it once after the loop')}, or {LATEST}",
            assumes=f"no other file removes items of `{holder}`" if by_other_file else None,
            minor=None if each_pass or holds_arrays(looked_at, model) else _MINOR,
        )

    def _of_store(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a statistic of all rows of a replay buffer."""
        what, rows = STATISTICS.get(model.names.qualified(call.func) or ""), next(iter(call.args), None)
        if what is None and isinstance(call.func, ast.Attribute) and call.func.attr in METHODS:
            what, rows = call.func.attr, call.func.value
        if what is None or rows is None:
            return
        if all_rows_of_store(rows, call, model) is None and whole_ring(rows, call, model) is None:
            return
        function = getattr(model.function(call), "name", "")
        yield self.finding(
            model,
            call,
            f"`{what}` reads all rows of the buffer, on every call of `{function}`",
            advice=f"{ADVICE.get(what, 'Compute it at intervals')}, or use a running estimate",
        )


def holds_arrays(items: ast.expr, model: SemanticModel) -> bool:
    """Whether a list contains arrays, which are concatenated each time."""
    item = model.types.type_of(items).item
    return item is not None and item.tag in (TypeTag.NDARRAY, TypeTag.TENSOR) and item.rank != 0


def build_fix(call: ast.Call, looked_at: ast.expr, history: History, model: SemanticModel) -> Fix | None:
    """Keep a running sum beside the list."""
    qualified = model.names.qualified(call.func)
    plain = len(call.args) == 1 and not call.keywords and call.args[0] is looked_at is history.holder
    if (
        not plain
        or (qualified not in MEANS and qualified not in SUMS)
        or not model.edit.is_relocatable(looked_at)
    ):
        return None
    kept = sum_edits(history, model)
    if kept is None:
        return None
    total, (start, growth) = kept
    text = model.edit.code(looked_at)
    if (
        isinstance(looked_at, ast.Name)
        and model.names.scope(looked_at).function is not model.names.scope(growth).function
    ):
        return None
    if qualified in MEANS and model.dataflow.between(growth, call) is None:
        return None  # there may be no items yet: numpy then returns nan, without an error
    first, second = (
        model.edit.insert_after(start, f"{total} = 0"),
        model.edit.insert_after(growth, f"{total} += {text}[-1]"),
    )
    if first is None or second is None:
        return None
    new = f"{total} / len({text})" if qualified in MEANS else total
    if qualified in MEANS and not _stands_free(call, model):
        new = f"({new})"
    shared = [edit.as_shared() for edit in (first, second)]
    reason = f"the items of `{text}` must be numbers; a running sum rounds in another order"
    return Fix(
        "Keep a running sum", Applicability.UNSAFE, (*shared, model.edit.replace(call, new)), reason=reason
    )


def _stands_free(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a quotient may replace the call without parentheses."""
    match model.parent(call):
        case (
            ast.Assign() | ast.AnnAssign() | ast.Return() | ast.FormattedValue() | ast.keyword() | ast.Expr()
        ):
            return True
        case ast.Call(func=func):
            return func is not call
        case ast.List() | ast.Tuple() | ast.Dict():
            return True
    return False


def _unless_empty(node: ast.expr, looked_at: ast.expr, model: SemanticModel) -> ast.AST:
    """Return the call, or the enclosing condition that only tests whether there are items: `mean(x) if x else
    0`.
    """
    anchor: ast.AST = node
    child: ast.AST = node
    for parent in model.ancestors(node):
        if isinstance(parent, (*LOOPS, *FUNCTIONS)):
            break
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            shape = ast.dump(looked_at)
            if not any(ast.dump(part) == shape for part in descendants(parent.test)):
                break
            anchor = parent
        child = parent
    return anchor
