"""A loop that polls for an event, a result or data instead of blocking until it is there.

## What it does
Flags loops, and branches of loops, that only check whether an event is set, a worker has ended, a queue
holds an item or data has arrived, and that sleep for less than a tenth of a second between two checks, or
not at all.

The rule does not flag pauses of a tenth of a second or more, pauses that already grow, pauses that set a
rate (a frame time, a rate limit, a retry), and waits for external systems: servers, devices, windows. A list
or the like is none, whatever its name: other code of the program fills it.

## Why is it slow
Every check that fails wakes the process up for nothing. Without a pause, the loop occupies a whole core and
competes for the GIL with the threads that it waits for. With a pause, it reacts late. `Event.wait`,
`Thread.join` and `Queue.get` block in the operating system and return as soon as the condition holds.

A thread or process that fetches its data in such a loop, with pauses of less than a millisecond, occupies its
core throughout training. The wait for a worker to end has a low impact if it pauses, as the worker ends once.

A loop gains nothing if its items arrive faster than it polled: one poll takes several items, while
`Queue.get` wakes up for each.

## Example
```python
import threading
import time


def wait_for_weights(ready: threading.Event) -> None:
    while not ready.is_set():
        time.sleep(0.001)
```
Use instead:
```python
import threading
import time


def wait_for_weights(ready: threading.Event) -> None:
    while not ready.is_set():
        ready.wait(1.0)
```

## Fix safety
Safe where a loop does nothing but poll one event, thread, process, pool result or future of known type. The
wait replaces the pause, and the loop checks the same condition as before. The wait returns as soon as the
condition holds. It has a timeout, because Ctrl-C cannot interrupt a wait without one on Windows.

Also safe where `get()` on a known queue directly follows a loop that polls `empty()`: the fix removes the
polling loop, and `get()` blocks.

Unsafe in these cases:

- The type is a guess.
- Other code may put another queue in the place of the one that is polled (`self.inbox = Queue()` outside of
  constructors, an item of a list).
- The loop also checks something else, which it then notices slightly later.
- An event or queue is shared with processes that this file kills. A process killed during a wait can leave
  the internal lock held.
- A thread is polled in a program that handles signals or `KeyboardInterrupt`, or inside `try … finally` or
  `with`. Until Python 3.12, a `join` that an exception interrupts marks the thread as ended.
- An `asyncio.Event` wakes coroutines in another order than polls do. It may also be set by another thread,
  which does not wake the coroutine, or be used in several event loops.
- The program has a `LifoQueue` or `PriorityQueue`: between two polls more items may arrive, so that `get()`
  returns another one.
- The loop keeps polling, for data or flags: the fix lets the pause grow to a hundredth of a second, and
  resets it when there is work. This trades latency for processor time. An event or a condition variable
  that the other side sets costs neither.

There is no fix where the loop counts its iterations, or where the length of the pause is an argument.

## References
- https://docs.python.org/3/library/threading.html#event-objects
- https://docs.python.org/3/library/queue.html#queue.Queue.get
- https://docs.python.org/3/library/multiprocessing.html#multiprocessing.Process.join
- https://docs.python.org/3/library/threading.html#condition-objects
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Finding, Heat, Rule, SemanticModel, TrainingStep
from rlint.rules.processes.rl401_busy_wait_sleep.backoff import backoff_fix
from rlint.rules.processes.rl401_busy_wait_sleep.direct import direct_fix
from rlint.rules.processes.rl401_busy_wait_sleep.fixes import shown
from rlint.rules.processes.rl401_busy_wait_sleep.looks import NEUTRAL
from rlint.rules.processes.rl401_busy_wait_sleep.polls import Poll, PollKind
from rlint.rules.processes.rl401_busy_wait_sleep.queue_polls import queue_fix, timeout_fix
from rlint.rules.processes.rl401_busy_wait_sleep.wait import Wait
from rlint.rules.processes.rl401_busy_wait_sleep.waits import waits_in

_HARDLY_A_PAUSE = 0.001
_INSTEAD = {
    PollKind.EVENT: "`{0}.wait()` blocks until the event is set",
    PollKind.WORKER: "`{0}.join()` blocks until the worker has ended",
    PollKind.RESULT: "`{0}.wait()` blocks until the result is ready",
    PollKind.FUTURE: "`{0}.result()` or `concurrent.futures.wait` blocks until the future is done",
    PollKind.PROGRAM: "`{0}.wait()` blocks until the subprocess has ended",
    PollKind.MESSAGE: "`{0}.recv()` blocks until a message arrives, `{0}.poll(timeout)` at most for the "
    "timeout",
    PollKind.EMPTY: "`{0}.get()` blocks until there is an item; pass a `timeout` if the loop must also "
    "check something else",
    PollKind.FULL: "`{0}.put()` blocks until there is room; pass a `timeout` if the loop must also check "
    "something else",
}
_EACH = {
    "is_alive": "Call `join()` on each of `{0}`: it blocks until the slowest has ended",
    "is_set": "Call `wait()` on each of `{0}`: it blocks until the last is done",
    "done": "`concurrent.futures.wait({0})` blocks until all are done",
    "is_completed": "Call `wait()` on each of `{0}`: it blocks until the slowest has ended",
}
_AWAITED = {
    PollKind.EVENT: "`await {0}.wait()` on an `asyncio.Event` lets other coroutines run until the event is "
    "set",
    PollKind.WORKER: "`await asyncio.to_thread({0}.join)` lets other coroutines run until the worker has "
    "ended",
    PollKind.FUTURE: "`await {0}` (a future of a pool: `asyncio.wrap_future({0})`) resumes when it is done",
    PollKind.EMPTY: "`await {0}.get()` on an `asyncio.Queue` resumes when there is an item",
    PollKind.FULL: "`await {0}.put()` on an `asyncio.Queue` resumes when there is room",
}
_ENDS = "a worker ends once, and the wait for it takes at most one pause too long"
_SIGNAL = "Have the other side set an event or notify a condition ({0}), and wait for that"
_THREADS = "`threading.Condition` between threads, `multiprocessing.Condition` between processes"


class BusyWaitSleep(Rule):
    """RL401."""

    code = "RL401"
    name = "busy-wait-sleep"
    seeds = ("S2.2",)
    claims = ("cpu",)
    concerns_waiting = True
    heat = Heat.COLD
    visits = (ast.While, ast.For)
    triggers = ("while", "sleep")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the waits of one loop."""
        if not isinstance(node, (ast.While, ast.For)):
            return
        for wait in waits_in(node, model):
            fixes = (make(wait, model) for make in (direct_fix, queue_fix, timeout_fix, backoff_fix))
            fix = next((fix for fix in fixes if fix is not None), None)
            yield self.finding(
                model,
                wait.place,
                message(wait, model),
                fix=fix,
                advice=advice(wait, model),
                minor=_ENDS if awaits_end(wait.polls[0]) and not wait.spins else None,
                throughout=TrainingStep.ENVIRONMENT if occupies_worker(wait, model) else None,
            )


def polled_of_each(poll: Poll) -> tuple[str, ast.expr] | None:
    """Return the method that a poll calls on each of several objects, and the objects: `is_alive` and
    `workers` of `any(worker.is_alive() for worker in workers)`.
    """
    match poll.node:
        case ast.Call(args=[ast.GeneratorExp(elt=each, generators=[of])]):
            each = each.operand if isinstance(each, ast.UnaryOp) else each
            called = each.func if isinstance(each, ast.Call) else None
            return (called.attr, of.iter) if isinstance(called, ast.Attribute) else None
    return None


def awaits_end(poll: Poll) -> bool:
    """Whether a poll waits for workers to end."""
    called = polled_of_each(poll)
    return poll.sort is PollKind.WORKER or (called is not None and called[0] == "is_alive")


def occupies_worker(wait: Wait, model: SemanticModel) -> bool:
    """Whether a thread or process beside training hardly pauses in the loop in which it fetches its data
    until it is stopped.
    """
    fetches = wait.polls[0].sort in (PollKind.DATA, PollKind.MESSAGE)
    if wait.guard is not None or not fetches or not isinstance(wait.loop, ast.While):
        return False
    if not wait.spins and wait.pauses[0].seconds >= _HARDLY_A_PAUSE:
        return False
    return bool(model.threads.runners(wait.loop).starts)


def message(wait: Wait, model: SemanticModel) -> str:
    """Return the message: what the loop polls, how often, and what that costs."""
    what = f"`{polled(wait.polls[0], model)}`"
    if wait.spins:
        return f"{what} is polled without a pause, which occupies a whole core during the wait"
    if not wait.pauses[0].seconds:
        return f"{what} is polled with `sleep(0)`, which occupies a whole core during the wait"
    seconds = f"{wait.pauses[0].seconds:.9f}".rstrip("0") + " s"
    if wait.pauses[0].seconds < _HARDLY_A_PAUSE:
        return (
            f"{what} is polled every {seconds}, which wakes the process more than a thousand times per second"
        )
    cost = f"each check wakes the process, and a change is noticed up to {seconds} late"
    return f"{what} is polled every {seconds}: {cost}"


def polled(poll: Poll, model: SemanticModel) -> str:
    """Return the polled expression, without the arguments of the call that fetches data."""
    node = poll.node
    while isinstance(node, ast.Call) and node.args and model.names.qualified(node.func) in NEUTRAL:
        if not isinstance(node.args[0], ast.Call):
            break  # `all(process.is_alive() for process in processes)` is shown whole
        node = node.args[0]  # `bool(self.inbox.get(1))`
    node = node.func if poll.sort is PollKind.DATA and isinstance(node, ast.Call) else node
    text: str = shown(node, model)
    return text


def advice(wait: Wait, model: SemanticModel) -> str:
    """Return what to write instead."""
    poll = wait.polls[0]
    awaited = isinstance(model.function(wait.loop), ast.AsyncFunctionDef)
    instead = (_AWAITED if awaited else _INSTEAD).get(poll.sort)
    if instead is not None:
        return instead.format(shown(poll.subject, model))
    called = polled_of_each(poll)
    if called is not None and called[0] in _EACH:
        return _EACH[called[0]].format(shown(called[1], model))
    return _SIGNAL.format("`asyncio.Condition` between coroutines" if awaited else _THREADS)
