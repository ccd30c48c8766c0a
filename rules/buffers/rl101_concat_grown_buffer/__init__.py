"""An array or tensor that grows by concatenation, which copies all older rows each time.

## What it does
Flags an array or tensor that is repeatedly assigned the concatenation of itself and new parts: in a loop,
or in a method that is called per step. The rule recognises `np.concatenate`, `np.append`, `np.vstack`,
`np.hstack`, `np.r_`, `np.insert` at an end, `torch.cat` and similar functions, also `pd.concat` and the
methods by which classes of batches concatenate (`Batch.cat([batch, step])`, likely). The array may be a
variable, an attribute, an entry of a dict or an alias of these, and a helper function may return the
concatenation.

The rule does not flag:

- concatenations that do not accumulate, such as `torch.cat([x, action])` in a forward pass;
- windows of constant length (`np.concatenate((frames[1:], frame))`) and padding, unless it makes room for a
  row that the function assigns (`x[-1] = row`);
- loops with few iterations, and loops over components (layers, keys, agents);
- sequences that are read as a whole in every iteration, such as generated tokens: the model costs far more
  than the copy;
- code that runs once.

The impact is low for the history of a rollout that each environment step reads as a whole, as a decision
transformer does.

## Why is it slow
Arrays cannot grow in place. Each concatenation allocates a new array and copies every existing row, so n
rows cost about n * n / 2 row copies. A list stores references, and one concatenation at the end copies each
row once. Preallocated storage also copies each row once.

A few short rows are copied quickly, and a list then gains little. The rows in a list are separate objects
and take more memory than one array. For an attribute, preallocated storage pays off from about a thousand
short rows on.

## Example
```python
import numpy as np


def collect(env, policy, steps):
    states = np.empty((0, 4))
    state = env.reset()
    for _ in range(steps):
        states = np.concatenate((states, state[None]), axis=0)
        state, reward, done, info = env.step(policy(state))
    return states
```

Use instead:

```python
import numpy as np


def collect(env, policy, steps):
    states = np.empty((0, 4))
    state = env.reset()
    states_parts = []
    for _ in range(steps):
        states_parts.append(np.array(state[None]))
        state, reward, done, info = env.step(policy(state))
    if states_parts:
        states = np.concatenate((states, *states_parts), axis=0)
    return states
```

## Fix safety
Safe for a local variable if all of these hold:

- the variable is bound before the loop, grows at one place in it, and is read only after it;
- no exception handler, `finally` block or generator can read it in between;
- all parts are numbers of one type, and the concatenation flattens them (`np.append`) or has one dimension:
  `np.append(rewards, np.float32(reward))`, `np.concatenate((rewards, [float(reward)]))`,
  `torch.cat([values, torch.tensor([float(value)])])`.

The result then has the same values, shape, dtype and gradient. The fix copies each row into the list,
because an environment may write its next observation into the same array. Rows that were just created are
not copied.

Unsafe in these cases:

- A part may have another shape. The error is then raised after the loop instead of in it, when the
  environment has made further steps.
- A part may have another dtype. Promoting several dtypes at once may give another dtype than promoting them
  one by one.
- A row is a string or may be `None`.
- The program uses `np.matrix` or masked arrays, which would become plain arrays.
- The program enables or disables autograd other than by a decorator or for a `with` block
  (`torch.set_grad_enabled(False)`), or in a generator: the loop may run that code.
- The variable is at module level, where other code may read it while the loop runs.
- The variable starts as `None`: with a single part, the result was that part itself.
- The parts are unpacked (`[found, *rows]`): an iteration without parts made a copy.

Unsafe for an array that is an attribute. The fix adds a small class to the file that keeps storage with
room for more rows, and the attribute becomes a view of that storage. The attribute has the same rows,
order, dtype and trimming wherever it is read or assigned. But arrays that are read from it at different
times share memory, so a write to one changes the other, and up to twice the memory is allocated.

Tensors in attributes, entries of dicts, and buffers that are read while they grow get only advice: the
right storage depends on how they are read.

## References
- https://numpy.org/doc/stable/reference/generated/numpy.append.html
- https://numpy.org/doc/stable/reference/generated/numpy.concatenate.html
- https://pytorch.org/docs/stable/generated/torch.cat.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    ArrayGrowth,
    Finding,
    Fix,
    Heat,
    LoopCarried,
    Rule,
    SemanticModel,
    array_growth,
    loop_carried,
)
from rlint.rules.buffers.rl101_concat_grown_buffer import first_part, growth_cost, parts_list, row_store

RING = (
    "Allocate the storage once (`np.empty((capacity, ...))`), write each row at an index that wraps around, "
    "and keep a count of the rows"
)
ROWS = "Allocate the rows once (`np.empty((steps, ...))`) and assign each by index"
_READ = "each iteration also reads the whole array, which takes longer than copying short rows"
HISTORY = (
    "Allocate the history once with room for all steps, assign each row by index, and pass the rows so far: "
    "`states[: step + 1]`"
)
PARTS = "Append the parts to a list, and concatenate them once where they are read"
LIST = "Append the rows to a list and concatenate once after the loop"


class ConcatGrownBuffer(Rule):
    """RL101."""

    code = "RL101"
    name = "concat-grown-buffer"
    seeds = ("S0.3",)
    claims = ("time", "exp")
    heat = (
        Heat.COLD
    )  # n rows cost n * n in any loop; outside of loops the code must be warm, see _growth_cost
    visits = (ast.Assign, ast.AnnAssign, ast.NamedExpr)
    triggers = ("append", "insert", "stack", "r_", "c_", "cat")

    def concerns(self, model: SemanticModel) -> bool:
        """Whether a file concatenates arrays at all."""
        joins: bool = array_growth.joins_arrays(model)
        return joins

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for an assignment that makes an array grow."""
        growth = array_growth.growth_of(node, model)
        if growth is None:
            model.silent("{} does not concatenate an array with the assigned variable", node)
            return
        if growth_cost.is_short_window(growth, model):
            model.silent("{} keeps a short window, whose copies cost little", node)
            return
        carried = loop_carried.carried_by_loops(growth, model)
        if carried.loops:
            cheap = growth_cost.cost_in_loop(growth, carried, model)
        else:
            cheap = growth_cost.cost_by_call(growth, model)
        history = cheap is growth_cost.Cheap.READ_WHOLE and growth_cost.is_history(growth, carried, model)
        if cheap is not None and not history:
            model.silent(f"{{}} grows an array, but {cheap.value}", node)
            return
        assumes = None
        if carried.loops:
            fix, advice = (None, HISTORY) if history else in_loop(growth, carried, model)
            where = f"in every iteration of `{model.analysis.loops.header(carried.loops[0])}`"
        elif isinstance(growth.target, ast.Name) and loop_carried.passed_back(growth, model):
            fix, advice = None, RING
            assumes = f"callers pass the returned `{growth.target.id}` in again"
            where = f"on every call of `{getattr(model.function(node), 'name', '')}`"
        else:
            fix, advice = row_store.build(growth, model), RING
            where = f"on every call of `{getattr(model.function(node), 'name', '')}`"
        name = growth.join.function.replace("numpy.", "np.")
        if growth.join.supposed and assumes is None:
            assumes = f"`{name}` copies its parts"
        if growth.join.supposed or name == "pd.concat":
            advice = PARTS
        grown = f"`{model.source.text(growth.target)}` grows by `{name}` {where}"
        yield self.finding(
            model,
            growth.join.node,
            f"{grown}, which copies the whole buffer each time",
            fix=fix,
            advice=advice,
            assumes=assumes,
            minor=_READ if history else None,
        )


def in_loop(growth: ArrayGrowth, carried: LoopCarried, model: SemanticModel) -> tuple[Fix | None, str]:
    """Return the advice for an array that grows in a loop."""
    if not isinstance(growth.target, ast.Name):
        return row_store.build(growth, model), LIST
    fix = first_part.build(growth, carried, model)
    if fix is None and loop_carried.reads_in(growth, carried.loops[-1], model):
        return None, ROWS
    return fix or parts_list.build(growth, carried, model), LIST
