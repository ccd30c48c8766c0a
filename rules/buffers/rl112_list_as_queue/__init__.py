"""A long list whose first item is repeatedly removed or inserted.

## What it does
Flags `x.pop(0)`, `del x[0]`, `x.insert(0, item)`, `x = x[1:]` and `x = x[-limit:]` in hot code, also written
as `x.remove(x[0])`, `x[:] = x[1:]`, `x[:1] = []`, `first, *x = x`, `x = [*x[1:], item]`,
`x = [item] + x[:limit]` or `del x[: len(x) - limit]`, on a list that is kept long: the same function compares
its length with a limit that is large, or that has a name like a capacity
(`if len(self.buffer) > self.capacity`), or a test around the operation compares a list beside it, a counter
or the length of the object (`len(self)`) with one. The list may be an entry of a dict
(`self.rows["state"].pop(0)`).

Also flags loops that remove the first item until the list is empty, and add none (`while data: … del
data[0]`), which is likely a list of many items, and code that uses up a copy of given items from the front
(`self.todo = list(prompts)`, `self.todo.pop(0)`, likely).

The rule does not flag lists with a small limit or with a limit named like a window of frames or steps,
other lists of unknown length (such as the queue of a search), objects that may not be lists, and code that
runs once per episode or less, unless it adds an item to the list as often.

## Why is it slow
A list is a contiguous array. Removing or inserting the first item moves all other items by one place (a
slice copies them), so each step costs time proportional to the length. A deque adds and removes items at both
ends in constant time. Below a few hundred items, the difference does not matter.
A list of a million items or more has a low impact: few trainings fill it.

## Example
```python
import numpy as np


class Replay:
    def __init__(self, capacity):
        self.capacity = capacity
        self._rewards = []

    def store_transition(self, reward):
        self._rewards.append(np.float32(reward))
        if len(self._rewards) > self.capacity:
            self._rewards.pop(0)
```

Use instead:

```python
import collections
import numpy as np


class Replay:
    def __init__(self, capacity):
        self.capacity = capacity
        self._rewards = collections.deque()

    def store_transition(self, reward):
        self._rewards.append(np.float32(reward))
        if len(self._rewards) > self.capacity:
            self._rewards.popleft()
```

## Fix safety
The fix replaces the list with a deque, and calls `popleft` and `appendleft`. It is offered where the list
is created empty at one place and the file only uses operations that a deque supports: no slices, no items
from the middle, and the list is not passed to other code.

Safe for a variable of one function that holds numbers, strings, arrays, tensors or tuples of those, where
items are only added, removed and counted.

Unsafe in these cases:

- The list is an attribute, even a private one. A subclass, `vars`, a notebook and a pickle then see a
  deque, and an object that was pickled before the fix still has a list.
- Code iterates over it: a deque must not be changed during iteration.
- An operation may find it empty, and any code of the program reads errors: a deque raises an `IndexError`
  with another text.
- It holds other objects, or arrays in a program that uses `weakref` or defines `__del__`. A deque deletes its
  items in another order, in which files are closed and finalizers run.
- It is extended with anything but a list, tuple, array or generator expression, whose length a list asks for
  and a deque does not.
- Code calls `random.sample` on it: access to the middle of a deque is slow.

A replay buffer that is sampled from is best kept in a ring buffer of preallocated arrays.

## References
- https://docs.python.org/3/library/collections.html#collections.deque
- https://wiki.python.org/moin/TimeComplexity
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Finding, Heat, Rule, SemanticModel
from rlint.rules.buffers.rl112_list_as_queue.queue import (
    QueueFront,
    as_deque,
    front_of,
    is_added_to,
    is_emptied_from_front,
    is_list,
    is_used_up,
    limit_of,
)

ADVICE = (
    "Keep a `collections.deque(maxlen=…)`, which drops the oldest item by itself; "
    "if items in the middle are accessed, use a ring buffer of fixed size"
)
_MOST_STEPS = 1_000_000
"""Few trainings take many more environment steps."""
_NEVER_FULL = "a list of so many items is hardly full before the training ends"
EMPTIED = "Iterate over the list, or make it a `collections.deque` before the loop and call `popleft`"


class ListAsQueue(Rule):
    """RL112."""

    code = "RL112"
    name = "list-as-queue"
    seeds = ("S1.T1",)
    claims = ("time", "exp")
    heat = Heat.WARM
    visits = (ast.Call, ast.Delete, ast.Assign)
    callees = frozenset({"pop", "insert", "remove", "__delitem__"})

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for an operation at the front of a long list."""
        front = front_of(node, model)
        if front is None:
            return
        if not is_list(front.held, model):
            return
        level = model.frequency.heat_of(node).level
        limit = limit_of(front, model)
        if limit is None:
            if level is Heat.HOT and (is_emptied_from_front(front, model) or is_used_up(front, model)):
                yield self.finding(
                    model,
                    node,
                    message_for(front, model),
                    advice=EMPTIED,
                    assumes=f"`{model.source.text(front.held)}` holds thousands of items",
                )
            return
        if level is Heat.COLD or (level is Heat.WARM and not is_added_to(front, model)):
            return  # a list that is kept long by single items is added to as often
        most = model.sizes.number(limit)
        yield self.finding(
            model,
            node,
            message_for(front, model),
            fix=as_deque(front, model),
            advice=ADVICE,
            minor=_NEVER_FULL if most is not None and most >= _MOST_STEPS else None,
            size=most,
        )


def message_for(front: QueueFront, model: SemanticModel) -> str:
    """Return the message: which operation moves or copies the list."""
    if isinstance(front.node, ast.Assign):
        shown = " ".join(model.source.text(front.node).split())
        in_place = isinstance(front.node.targets[0], ast.Subscript) and front.shown == "slice"
        does = "moves all other items of the list" if in_place else "copies all other items to a new list"
        return f"`{shown}` {does}"
    held = model.source.text(front.held)
    shown = model.source.text(front.node) if isinstance(front.node, ast.Delete) else f"{held}.{front.shown}"
    return f"`{shown}` moves all other items of the list"
