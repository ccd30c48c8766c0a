"""Work that takes long done while a lock is held, so that everybody else waits for it.

## What it does
Flags a batch that is sampled, arrays that are joined or copied, a network that is run, gradients that are
computed, and waiting for a file, the network or a `sleep`, between taking a lock and freeing it: `with
lock:`, `with value.get_lock():`, and `acquire()` up to `release()`, in code that threads or processes run,
or that a training loop runs.

Except for sampling, only work that touches nothing which the lock guards is flagged. What a lock guards is
what its sections write, anywhere in the class or file. A model under a `model_lock` and a file that is
written under the lock made for it are left alone, and so are `add` and counters: there the guarded thing
is what is worked on.

The rule is opt-in, since moving the work out of the section is no gain by itself. An actor adds more rows
where the learner samples outside of the lock, but between threads of one interpreter the learner then
samples fewer, and between two processes with cores of their own nothing was gained at all. It is worth it
where several threads wait for the same lock, and where the work inside waits for something else than the
processor.

## Why is it slow
One holder works, all others wait, however many there are. With a lock around a request of a tenth of a
second, eight workers make ten requests a second, as one worker would.

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
There is no fix. What others may do between two shorter sections was impossible before: rows that a learner
gathers without the lock can be torn, half old and half new, and a value that was checked in the first
section may not hold any more in the second.

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
    WorkKind.SAMPLE: "Take only what has to be consistent under the lock (the size, the indices), "
    "and gather the "
    "batch after it, if rows that are being written can be told apart",
    WorkKind.COPY: "Take references under the lock, and join or copy them after it",
    WorkKind.FORWARD: "Prepare the input under the lock, and run the network after it",
    WorkKind.LEARN: "Compute the gradients before the lock is taken, and hold it for the step alone",
    WorkKind.WAIT: (
        "Take what is needed under the lock, wait after it, and store the result under the lock again"
    ),
}


class WorkUnderLock(Rule):
    """Work that others wait for."""

    code = "RL402"
    name = "work-under-lock"
    seeds = ("S2.1", "S2.2")
    claims = ("time",)
    heat = Heat.COLD
    opt_in = True
    visits = (ast.With, ast.Expr)
    triggers = ("with", ".acquire")

    def concerns(self, model: SemanticModel) -> bool:
        """Only where there are locks."""
        return bool(model.threads.lock_sections())

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Find work in the sections that a statement begins."""
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
                    f"`{call}` {found.sort.value} while `{lock}` is held: all who need the lock wait for it",
                    advice=_ADVICE[found.sort],
                )
            return
