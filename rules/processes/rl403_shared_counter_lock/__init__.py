"""Two locks taken for one update of shared counters, or one lock for unrelated counters.

## What it does
Flags two locks that are taken one after the other, or one inside the other, for a single update of shared
values. Also flags a lock that guards unrelated counters: one section counts steps, another counts episodes,
and no section uses both. Only sections that just read and write counters are examined, in programs that
start threads or processes, or whose lock is a `multiprocessing` lock.

The rule does not flag one lock for values that must change together, such as the index and the size of a
ring buffer.

The rule is opt-in, because the gain is small: acquiring an uncontended lock costs well under a microsecond,
a small part of a step in most programs. It pays off where many workers count in every step.

## Why is it slow
A lock between processes is a kernel object that must be acquired and released, and each read or write of
`v.value` of a `multiprocessing.Value` acquires the value's own lock once more. Two locks cost twice as much
and still do not make the update atomic: other processes can see the new index with the old size. Where one
lock serves unrelated counters, updates of one block updates of the other.

## Example
```python
import multiprocessing as mp


class Ring:
    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.index = mp.Value("l", 0)
        self.size = mp.Value("l", 0)

    def advance(self) -> None:
        with self.index.get_lock():
            self.index.value = (self.index.value + 1) % self.capacity
        with self.size.get_lock():
            self.size.value = min(self.size.value + 1, self.capacity)
```
Use instead (by hand):
```python
import multiprocessing as mp


class Ring:
    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.lock = mp.Lock()
        self.index = mp.Value("l", 0, lock=False)
        self.size = mp.Value("l", 0, lock=False)

    def advance(self) -> None:
        with self.lock:
            self.index.value = (self.index.value + 1) % self.capacity
            self.size.value = min(self.size.value + 1, self.capacity)
```

## Fix safety
There is no fix: all code that uses the values has to change, in all files, and only its author knows which
values must change together.

## References
- https://docs.python.org/3/library/multiprocessing.html#multiprocessing.Value
- https://docs.python.org/3/library/multiprocessing.html#multiprocessing.sharedctypes.RawValue
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Finding, Heat, Rule, SemanticModel, TypeTag
from rlint.rules.processes.rl403_shared_counter_lock.counters import (
    inner_section,
    next_section,
    one_of_several,
)

_TOGETHER = (
    "Guard both values with one lock, and create them with `lock=False`, so that they have no locks of "
    "their own"
)


class SharedCounterLock(Rule):
    """RL403."""

    code = "RL403"
    name = "shared-counter-lock"
    seeds = ("S2.3",)
    claims = ("time",)
    heat = Heat.COLD
    opt_in = True
    visits = (ast.With,)
    triggers = ("with",)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a section that could be part of another one, or should have a lock of its
        own.
        """
        sections = model.threads.sections_begun(node)
        if not sections or model.types.type_of(sections[0].lock).tag is TypeTag.SEMAPHORE:
            return
        section = sections[0]
        first = model.source.text(section.lock)
        after, inside = next_section(section, model), inner_section(section, model)
        if after is not None:
            message = (
                f"`{first}` and `{model.source.text(after.lock)}` are acquired in turn for a single update"
            )
            yield self.finding(model, after.lock, message, advice=_TOGETHER)
        elif inside is not None:
            message = (
                f"`{model.source.text(inside.lock)}` is acquired for an update that already holds `{first}`"
            )
            yield self.finding(model, inside.lock, message, advice=_TOGETHER)
        other = one_of_several(section, model)
        if other is not None:
            counter, others = other
            yield self.finding(
                model,
                section.lock,
                f"`{first}` guards `{counter}` here and {others} elsewhere, though they never change "
                f"together",
                advice=f"Use a separate lock for `{counter}`: each `multiprocessing.Value` has one "
                f"(`get_lock()`)",
            )
