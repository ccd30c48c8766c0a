"""A transition added to a second buffer that is never read.

## What it does
Flags a call that adds a transition to a buffer, if the same function adds the same transition to another
buffer in the same step and nothing in the project ever reads the first buffer: it is not sampled from,
counted, iterated over, passed on, returned or inspected.

The rule does not flag two buffers that are both used (demonstrations and the agent's own steps, n-step
returns beside single steps, stacked frames), two different transitions, or imported buffers whose readers
are not known.

## Why is it slow
Each step stores the transition twice. Its arrays are copied once more, or kept alive, and memory holds a
second copy of all that the agent has seen. It is seldom a large part of a step's time.

## Example
```python
from collections import deque


class Worker:
    def __init__(self, capacity):
        self.replay = deque(maxlen=capacity)
        self.recent = deque(maxlen=capacity)

    def run(self, env, policy, steps):
        state = env.reset()
        for _ in range(steps):
            action = policy(state)
            next_state, reward, done, _ = env.step(action)
            self.replay.append((state, action, reward, next_state, done))
            self.recent.append((state, action, reward, next_state, done))
            state = next_state
        return list(self.replay)
```
Use instead (by hand):
```python
from collections import deque


class Worker:
    def __init__(self, capacity):
        self.replay = deque(maxlen=capacity)

    def run(self, env, policy, steps):
        state = env.reset()
        for _ in range(steps):
            action = policy(state)
            next_state, reward, done, _ = env.step(action)
            self.replay.append((state, action, reward, next_state, done))
            state = next_state
        return list(self.replay)
```

## Fix safety
There is no fix: the missing read may be the mistake, and the buffer may be inspected in a notebook or a
debugger.

## References
- https://docs.python.org/3/library/collections.html#collections.deque
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Finding, Heat, Rule, SemanticModel, descendants, write_only
from rlint.rules.buffers.rl108_redundant_memory_add.added_values import (
    is_unread,
    same_values,
    target_of,
    values_of,
)


class RedundantMemoryAdd(Rule):
    """RL108."""

    code = "RL108"
    name = "redundant-memory-add"
    seeds = ("S2.1",)
    claims = ("time",)
    heat = Heat.HOT
    visits = (ast.Call,)
    callees = write_only.ADDS

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a value added to a buffer that no code reads, and to another one, too."""
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in write_only.ADDS:
            return
        if not isinstance(model.parent(node), ast.Expr):
            return
        values = values_of(node, model)
        target = target_of(node, model) if values is not None else None
        if target is None or values is None or not is_unread(target, model):
            return
        twin = other_add(node, values, model)
        if twin is None:
            return
        assert isinstance(twin.func, ast.Attribute)
        shown, other = model.source.text(node.func.value), model.source.text(twin.func.value)
        into = f"`{target.name}` of `{shown}`" if target.through else f"`{shown}`"
        yield self.finding(
            model,
            node,
            f"The transition is also stored in {into}, which is never read in the project; `{other}` "
            f"already holds it",
            advice=f"Remove the second buffer and this line, or sample from it instead of from `{other}`",
        )


def other_add(node: ast.Call, values: list[ast.expr], model: SemanticModel) -> ast.Call | None:
    """Return the call of the same step that adds the same to another buffer, which is not the redundant
    one.
    """
    assert isinstance(node.func, ast.Attribute)
    own = ast.dump(node.func.value)
    for name in sorted(write_only.ADDS):
        for call in model.names.calls_named(name, model.function(node)):
            if call is node or not isinstance(call.func, ast.Attribute):
                continue
            if ast.dump(call.func.value) == own or not isinstance(model.parent(call), ast.Expr):
                continue
            others = values_of(call, model)
            if others is None or not same_values(values, others, model):
                continue
            first, second = sorted((node, call), key=model.source.span)
            if model.dataflow.between(first, second) is None or model.frequency.loops(
                first
            ) != model.frequency.loops(second):
                continue
            names = [name for value in values for name in descendants(value) if isinstance(name, ast.Name)]
            if not all(model.dataflow.keeps(name, first, second) for name in names):
                continue
            target = target_of(call, model)
            if target is None or first is call or not is_unread(target, model):
                return call  # of two that no code reads, the later one is redundant
    return None
