"""Slow work done while a lock is held, which blocks every other thread that needs the lock.

## What it does
Flags slow work that is done while a lock is held: sampling a batch, concatenating or copying arrays,
running a network, computing gradients, and waiting for a file, the network or a `sleep`. The lock may be
held by `with lock:`, by `with value.get_lock():`, or between `acquire()` and `release()`, in code that is
run by threads, processes or a training loop.

Sampling is always flagged, other work only if it does not touch the data that the lock guards, which is the
data that its sections write anywhere in the class or file. A model used under a `model_lock`, a file
written under its own lock, `add` and counters are therefore not flagged.

The rule is opt-in, because moving the work out of the section does not always help. An actor adds more rows
when the learner samples outside the lock; but between threads of one interpreter the learner then samples
fewer, and between two processes with their own cores there was no gain. It pays off where several threads
contend for the lock, and where the work blocks on I/O rather than on the processor.

## Why is it slow
The lock serialises the work. With a lock around a request that takes a tenth of a second, eight workers
make ten requests a second, as one worker would.

## Example
```python
import threading
import time


def score(task: int) -> float:
    time.sleep(0.1)  # a reward model that answers over the network
    return float(task)


class Rollouts:
    def __init__(self, tasks: list[int]) -> None:
        self.lock = threading.Lock()
        self.tasks = tasks
        self.rewards: dict[int, float] = {}

    def work(self) -> None:
        while True:
            with self.lock:
                if not self.tasks:
                    return
                task = self.tasks.pop()
                reward = score(task)
                self.rewards[task] = reward

    def start(self, workers: int) -> None:
        for _ in range(workers):
            threading.Thread(target=self.work).start()
```
Use instead (by hand):
```python
import threading
import time


def score(task: int) -> float:
    time.sleep(0.1)  # a reward model that answers over the network
    return float(task)


class Rollouts:
    def __init__(self, tasks: list[int]) -> None:
        self.lock = threading.Lock()
        self.tasks = tasks
        self.rewards: dict[int, float] = {}

    def work(self) -> None:
        while True:
            with self.lock:
                if not self.tasks:
                    return
                task = self.tasks.pop()
            reward = score(task)
            with self.lock:
                self.rewards[task] = reward

    def start(self, workers: int) -> None:
        for _ in range(workers):
            threading.Thread(target=self.work).start()
```

## Fix safety
There is no fix. Splitting a section in two allows other threads to run in between: rows that a learner
gathers without the lock can be half old and half new, and a value checked in the first section may no
longer hold in the second.

## References
- https://docs.python.org/3/library/threading.html#lock-objects
- https://docs.python.org/3/library/multiprocessing.html#synchronization-primitives
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Finding, Heat, Rule, SemanticModel, TypeTag
from rlint.rules.processes.rl402_work_under_lock.locked_work import WorkKind, work_under

_ADVICE = {
    WorkKind.SAMPLE: "Read only what must be consistent under the lock (the size, the indices), and gather "
    "the batch after releasing it, if half-written rows can be detected",
    WorkKind.COPY: "Take references under the lock, and concatenate or copy them after releasing it",
    WorkKind.FORWARD: "Prepare the input under the lock, and run the network after releasing it",
    WorkKind.LEARN: "Compute the gradients before taking the lock, and hold it only for `optimizer.step()`",
    WorkKind.WAIT: (
        "Copy the inputs under the lock, wait after releasing it, and take it again to store the result"
    ),
}


class WorkUnderLock(Rule):
    """RL402."""

    code = "RL402"
    name = "work-under-lock"
    seeds = ("S2.1", "S2.2")
    claims = ("time",)
    heat = Heat.COLD
    opt_in = True
    visits = (ast.With, ast.Expr)
    triggers = ("with", ".acquire")

    def concerns(self, model: SemanticModel) -> bool:
        """Whether a file uses locks at all."""
        return bool(model.threads.lock_sections())

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for work in the sections that a statement begins."""
        if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call):
            return
        for section in model.threads.lock_sections():
            if section.node is not node or model.types.type_of(section.lock).tag is TypeTag.SEMAPHORE:
                continue
            if (
                not model.threads.runners(node).starts
                and model.frequency.heat_of(section.body[0]).level is Heat.COLD
            ):
                continue
            found = work_under(section, model)
            if found is not None:
                lock, call = model.source.text(section.lock), model.source.text(found.call.func)
                yield self.finding(
                    model,
                    found.call,
                    f"`{call}` {found.sort.value} while holding `{lock}`, which blocks every thread or "
                    f"process that needs the lock",
                    advice=_ADVICE[found.sort],
                )
            return
