"""Two locks taken for one update of shared counters, or one for counters that never change together.

## What it does
Flags two locks that are taken one after the other, or one inside the other, for a single update of shared
values, and a lock whose sections each count something of their own: one counts steps, another one
episodes, and none touches both. Only sections that do nothing but read and write counters are looked at,
in programs that start threads or processes, or whose lock is one between processes.

One lock for values that must change together, like the index and the size of a ring, is right, and is left
alone.

The rule is opt-in, since there is little to gain: taking a lock that is free costs well under a
microsecond, and in most programs that is a small part of a step. It pays where many workers count in each
step.

## Why is it slow
Each lock between processes is a system object that is taken and freed; `v.value` of a
`multiprocessing.Value` takes its own one more time for each read and each write. Two locks cost twice as
much, and yet do not make the update one: between them others see the new index with the old size. And
where one lock serves counters that have nothing to do with one another, those who count the one wait for
those who count the other.

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
There is no fix: all code that uses the values has to change with it, in all files, and what is one update,
and what are two, only its author knows.

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
    "Guard both with one lock, and make the values with `lock=False`, so that they take none of their own"
)


class SharedCounterLock(Rule):
    """Too many locks, or too few."""

    code = "RL403"
    name = "shared-counter-lock"
    seeds = ("S2.3",)
    claims = ("time",)
    heat = Heat.COLD
    opt_in = True
    visits = (ast.With,)
    triggers = ("with",)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Find a section that could be part of another one, or should have a lock of its own."""
        sections = model.threads.sections_begun(node)
        if not sections or model.types.type_of(sections[0].lock).tag is TypeTag.SEMAPHORE:
            return
        section = sections[0]
        first = model.source.text(section.lock)
        after, inside = next_section(section, model), inner_section(section, model)
        if after is not None:
            message = (
                f"`{first}` and `{model.source.text(after.lock)}` are taken one after the "
                "other for one update"
            )
            yield self.finding(model, after.lock, message, advice=_TOGETHER)
        elif inside is not None:
            message = (
                f"`{model.source.text(inside.lock)}` is taken for an update for which "
                f"`{first}` is held already"
            )
            yield self.finding(model, inside.lock, message, advice=_TOGETHER)
        other = one_of_several(section, model)
        if other is not None:
            counter, others = other
            yield self.finding(
                model,
                section.lock,
                f"`{first}` guards `{counter}` here and {others} elsewhere, which never change together",
                advice=f"Give `{counter}` a lock of its own, as each `multiprocessing.Value` has one",
            )
