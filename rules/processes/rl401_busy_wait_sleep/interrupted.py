"""Waits that end otherwise than the polls that they replace: by signals, or by events set elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import TRIES, SemanticModel, TypeTag, is_in
from rlint.rules.processes.rl401_busy_wait_sleep.fixes import shown
from rlint.rules.processes.rl401_busy_wait_sleep.polls import Poll, PollKind
from rlint.rules.processes.rl401_busy_wait_sleep.wait import Wait

_INTERRUPTED = (
    "Ctrl-C or a signal handler must not interrupt the wait: until Python 3.12, an interrupted `join` marks "
    "the thread as ended"
)
_FOREIGN = (
    "`{}` must only be set in the thread of its event loop: `set()` in another thread wakes no coroutine"
)
_OTHER_LOOP = "`{}` must only be used in one event loop: in a second one, `wait()` raises an error"
_ORDER = "no coroutine must rely on the order in which they resume, which the polls determine"
_OF_SIGNALS = ("signal", "setitimer", "pthread_kill", "raise_signal", "interrupt_main")
_INTERRUPTIONS = ("KeyboardInterrupt", "BaseException")
_THREADS = (
    *("Thread", "Timer", "start_new_thread", "ThreadPoolExecutor", "ProcessPoolExecutor"),
    *("to_thread", "run_in_executor", "run_coroutine_threadsafe", "call_soon_threadsafe"),
)
_NEW_LOOPS = ("run", "run_until_complete", "new_event_loop")


def interruptions(wait: Wait, poll: Poll, model: SemanticModel) -> Iterator[str]:
    """Yield the conditions on signals, threads and event loops under which a wait ends like the polls."""
    is_thread = poll.sort is PollKind.WORKER and poll.kind.tag is not TypeTag.PROCESS
    if is_thread and _handles_interruptions(wait, model):
        yield _INTERRUPTED
    elif poll.sort is PollKind.EVENT and poll.kind.of == "asyncio.Event":
        subject = shown(poll.subject, model)
        if model.program.mentions(*_THREADS) or not _is_set_by_coroutines(poll.subject, model):
            yield _FOREIGN.format(subject)
        elif _runs_several_loops(model):
            yield _OTHER_LOOP.format(subject)
        else:
            yield _ORDER


def _handles_interruptions(wait: Wait, model: SemanticModel) -> bool:
    """Whether the program continues after an interruption: it handles signals or `KeyboardInterrupt`, or a
    `finally`, a bare `except` or a context manager is around the wait.
    """
    if model.program.mentions(*_OF_SIGNALS) or any(name in model.syntax.text for name in _INTERRUPTIONS):
        return True
    for around in model.ancestors(wait.loop):
        if isinstance(around, ast.With):
            return True
        if (
            isinstance(around, TRIES)
            and any(is_in(wait.loop, part) for part in around.body)
            and (around.finalbody or any(handler.type is None for handler in around.handlers))
        ):
            return True
    return False


def _is_set_by_coroutines(event: ast.expr, model: SemanticModel) -> bool:
    """Whether all visible calls of `set()` on an event are in coroutines, and it is never passed on."""
    name = event.attr if isinstance(event, ast.Attribute) else getattr(event, "id", None)
    for use in model.names.attribute_uses("set"):
        owner = use.value
        if name != (owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", None)):
            continue
        call = model.parent(use)
        if not (isinstance(call, ast.Call) and call.func is use):
            return False
        if not isinstance(model.function(use), ast.AsyncFunctionDef):
            return False
    return True


def _runs_several_loops(model: SemanticModel) -> bool:
    """Whether the file runs event loops in several places."""
    calls = [
        call
        for call in model.syntax.written.calls_of(_NEW_LOOPS)
        if (model.names.qualified(call.func) or "").startswith("asyncio.")
        or (isinstance(call.func, ast.Attribute) and call.func.attr != "run")
    ]
    return len(calls) > 1
