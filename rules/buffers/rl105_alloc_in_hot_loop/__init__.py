"""A tensor or array that is allocated in every iteration and then completely overwritten.

## What it does
Flags tensors and arrays that a hot loop allocates in every iteration, with a size that does not change in
the loop, and overwrites completely before reading them: by `batch[:] = rows`, `fill`, `copy_`, `out=batch`,
or item by item. Also flags a method that runs per step and allocates such an array with a size from the
object's attributes.

The rule does not flag:

- arrays that may outlive the iteration: arrays that are stored, returned, yielded, put into a list or a
  queue, or passed to a function that could keep them;
- arrays that are only partly written, because clearing them takes longer than allocating zeros;
- tensors where autograd is on, because the graph may save their values.

The rule is opt-in. You must know that no other code reads the memory. The gain is small unless the array is
small and the loop tight, or the array is large.

## Why is it slow
For a small array, the allocation takes as long as writing its values. A large array comes from the
operating system, which maps and clears each page at the first write, in every iteration. Reusing the memory
avoids both costs.

## Example
```python
import numpy as np


def rollout(env, policy, steps, n_envs, size):
    total = 0.0
    for _ in range(steps):
        batch = np.empty((n_envs, size + 1), dtype=np.float32)
        for i in range(n_envs):
            batch[i] = env.observe(i)
        total += float(policy.score(batch.mean(axis=0)))
        env.step(policy.act(batch.argmax(axis=1)))
    return total
```
Use instead:
```python
import numpy as np


def rollout(env, policy, steps, n_envs, size):
    total = 0.0
    batch = np.empty((n_envs, size + 1), dtype=np.float32)
    for _ in range(steps):
        for i in range(n_envs):
            batch[i] = env.observe(i)
        total += float(policy.score(batch.mean(axis=0)))
        env.step(policy.act(batch.argmax(axis=1)))
    return total
```

## Fix safety
Unsafe. All iterations share one array, so references to it or views of it from an earlier iteration see the
new values. The array is allocated before the loop, even if the loop does not run.

There is only advice where the array is allocated on each call of a method.

## References
- https://numpy.org/doc/stable/reference/generated/numpy.empty.html
- https://pytorch.org/docs/stable/generated/torch.empty.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from rlint.rule import Applicability, Finding, Fix, Heat, Rule, SemanticModel, TypeTag, last_names
from rlint.rules.buffers.rl105_alloc_in_hot_loop.allocated import MAKERS, METHODS, Allocation, allocation_at


class AllocInHotLoop(Rule):
    """See the page above."""

    code = "RL105"
    name = "alloc-in-hot-loop"
    seeds = ("S3.2", "S1.M1")
    claims = ("time", "alloc")
    heat = Heat.HOT
    opt_in: ClassVar[bool] = True
    visits = (ast.Call,)
    callees = last_names(*MAKERS) | METHODS

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for an allocation that could reuse the memory of the previous iteration."""
        assert isinstance(node, ast.Call)
        found = allocation_at(node, model)
        if found is None:
            return
        name, made = found.name.id, model.source.text(node.func)
        if found.in_loop:
            assert isinstance(found.around, (ast.For, ast.While))
            often = f"in every iteration of `{model.analysis.loops.header(found.around)}`"
            advice = f"Allocate `{name}` once, before the loop"
        else:
            assert isinstance(found.around, ast.FunctionDef)
            often = f"on every call of `{found.around.name}`"
            advice = f"Allocate `{name}` once, and reuse it between calls"
        message = f"`{made}` allocates `{name}` {often} with the same size, though all of it is overwritten"
        yield self.finding(model, node, message, fix=build_fix(found, model), advice=advice)


def build_fix(found: Allocation, model: SemanticModel) -> Fix | None:
    """Move the allocation before the loop."""
    loop, statement = found.around, found.statement
    if not isinstance(loop, (ast.For, ast.While)):
        return None
    # a comment after it may explain its purpose in each iteration
    if model.source.trailing_comment(statement) or not model.edit.is_relocatable(found.call):
        return None
    before = model.edit.insert_before(
        loop, model.source.text(statement), indentation=model.source.indentation(statement)
    )
    deleted = model.edit.delete_statement(statement)
    if before is None or deleted is None:
        return None
    what = "tensor" if model.types.type_of(found.call).tag is TypeTag.TENSOR else "array"
    name = found.name.id
    reason = (
        f"all iterations share one {what}: no reference to `{name}` or to a view of it may outlive an "
        f"iteration; it is allocated even if the loop does not run"
    )
    return Fix(f"Allocate `{name}` before the loop", Applicability.UNSAFE, (before, deleted), reason)
