"""A loop that looks again and again whether something is ready, instead of waiting for it.

## What it does
Flags loops, and branches of loops, that do nothing but look whether an event is set, a worker has ended,
a queue holds an item or data have come, with a `sleep` of less than a tenth of a second between two looks,
or with no pause at all.

## Why is it slow
Each look wakes the processor up for nothing; without a pause it takes a whole core, and under the
interpreter's lock it takes it from the very threads it waits for. Yet with a pause, what has come is noticed
late. `Event.wait`, `Thread.join` and `Queue.get` sleep in the operating system until the moment comes.

What waits for items that come faster than it used to look gains nothing: a poll takes several at a time,
while `Queue.get` wakes up for each.

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
Safe where a loop does nothing but poll one event, thread, process, pool result or future whose type is
known: the wait takes the place of the pause, and the loop looks at the same thing as before. It ends at once
when the moment comes; its time limit is there because a wait without one does not hear Ctrl-C on Windows.
Safe, too, where `get()` on a known queue directly follows a loop that polls `empty()`: the poll goes, and
`get()` waits.

Unsafe where the type is a guess, where the loop looks at something else as well (which is then seen a little
later), where an event or queue is shared with processes that this file kills (a process that dies while it
waits can leave the lock inside taken), and wherever polling goes on: data and flags are polled with a pause
that grows to a hundredth of a second and begins anew when there is work. It trades latency for processor
time; an event or a condition variable that the other side sets has neither cost.

No fix where the loop counts its passes, where the length of the pause is an argument, and where a comment
would be lost.

Not flagged are pauses of a tenth of a second and more, those that grow already, those that keep a pace (a
frame's time, a rate limit, a retry), and waits for what lies outside: servers, devices, windows.

## References
- https://docs.python.org/3/library/threading.html#event-objects
- https://docs.python.org/3/library/queue.html#queue.Queue.get
- https://docs.python.org/3/library/multiprocessing.html#multiprocessing.Process.join
- https://docs.python.org/3/library/threading.html#condition-objects
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Finding, Heat, Rule, SemanticModel
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
    PollKind.EVENT: "`{0}.wait()` sleeps until the event is set, and returns at once when it is",
    PollKind.WORKER: "`{0}.join()` sleeps until the worker has ended",
    PollKind.RESULT: "`{0}.wait()` sleeps until the result is there",
    PollKind.FUTURE: "`{0}.result()` or `concurrent.futures.wait` sleeps until the future is done",
    PollKind.PROGRAM: "`{0}.wait()` sleeps until the program has ended",
    PollKind.MESSAGE: "`{0}.recv()` sleeps until a message comes, `{0}.poll(timeout)` for some time",
    PollKind.EMPTY: "`{0}.get()` sleeps until there is an item; give it a `timeout` where the loop must look "
    "at something else, too",
    PollKind.FULL: "`{0}.put()` sleeps until there is room; give it a `timeout` where the loop must look at "
    "something else, too",
}
_EACH = {
    "is_alive": "`join()` each of `{0}`: it takes as long as the slowest, and sleeps until then",
    "is_set": "`wait()` for each of `{0}`: it takes as long as the last, and sleeps until then",
    "done": "`concurrent.futures.wait({0})` sleeps until all are done",
    "is_completed": "`wait()` for each of `{0}`: it takes as long as the slowest, and sleeps until then",
}
_AWAITED = {
    PollKind.EVENT: "`await {0}.wait()` on an `asyncio.Event` lets the other coroutines run until it is set",
    PollKind.WORKER: "`await asyncio.to_thread({0}.join)` lets the other coroutines run until it has ended",
    PollKind.FUTURE: "`await {0}` (a future of a pool: `asyncio.wrap_future({0})`) resumes when it is done",
    PollKind.EMPTY: "`await {0}.get()` on an `asyncio.Queue` resumes when there is an item",
    PollKind.FULL: "`await {0}.put()` on an `asyncio.Queue` resumes when there is room",
}
_SIGNAL = "Have the other side set an event or notify a condition ({0}), and wait for that"
_THREADS = "`threading.Condition` between threads, `multiprocessing.Condition` between processes"


class BusyWaitSleep(Rule):
    """Polls where it could wait."""

    code = "RL401"
    name = "busy-wait-sleep"
    seeds = ("S2.2",)
    claims = ("cpu",)
    heat = Heat.COLD
    visits = (ast.While, ast.For)
    triggers = ("while", "sleep")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Find the waits of one loop."""
        if not isinstance(node, (ast.While, ast.For)):
            return
        for wait in waits_in(node, model):
            fixes = (make(wait, model) for make in (direct_fix, queue_fix, timeout_fix, backoff_fix))
            fix = next((fix for fix in fixes if fix is not None), None)
            yield self.finding(model, wait.place, message(wait, model), fix=fix, advice=advice(wait, model))


def message(wait: Wait, model: SemanticModel) -> str:
    """What the loop polls, how often, and what that costs."""
    what = f"`{polled(wait.polls[0], model)}`"
    if wait.spins:
        return f"{what} is polled without a pause, which burns a core for as long as it takes"
    if not wait.pauses[0].seconds:
        return f"{what} is polled with `sleep(0)`, which burns a core for as long as it takes"
    seconds = f"{wait.pauses[0].seconds:.9f}".rstrip("0") + " s"
    if wait.pauses[0].seconds < _HARDLY_A_PAUSE:
        return f"{what} is polled every {seconds}, which keeps a core busy for as long as it takes"
    cost = f"each look wakes the processor, and news is seen up to {seconds} late"
    return f"{what} is polled every {seconds}: {cost}"


def polled(poll: Poll, model: SemanticModel) -> str:
    """The expression that is looked at, without the arguments of the call that fetches data."""
    node = poll.node
    while isinstance(node, ast.Call) and node.args and model.names.qualified(node.func) in NEUTRAL:
        if not isinstance(node.args[0], ast.Call):
            break  # `all(process.is_alive() for process in processes)` is shown whole
        node = node.args[0]  # `bool(self.inbox.get(1))`
    node = node.func if poll.sort is PollKind.DATA and isinstance(node, ast.Call) else node
    text: str = shown(node, model)
    return text


def advice(wait: Wait, model: SemanticModel) -> str:
    """What to write instead."""
    poll = wait.polls[0]
    awaited = isinstance(model.function(wait.loop), ast.AsyncFunctionDef)
    instead = (_AWAITED if awaited else _INSTEAD).get(poll.sort)
    if instead is not None:
        return instead.format(shown(poll.subject, model))
    match poll.node:
        case ast.Call(args=[ast.GeneratorExp(elt=each, generators=[of])]):
            each = each.operand if isinstance(each, ast.UnaryOp) else each
            called = each.func if isinstance(each, ast.Call) else None
            if isinstance(called, ast.Attribute) and called.attr in _EACH:
                return _EACH[called.attr].format(shown(of.iter, model))
    return _SIGNAL.format("`asyncio.Condition` between coroutines" if awaited else _THREADS)
