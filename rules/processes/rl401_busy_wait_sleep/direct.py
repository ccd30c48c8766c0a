"""Fixes that wait for the object itself: the event, the worker, the result."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Fix, SemanticModel, TypeTag, descendants
from rlint.rules.processes.rl401_busy_wait_sleep.fixes import fix_of, hazards, overridden, repeatable, shown
from rlint.rules.processes.rl401_busy_wait_sleep.interrupted import interruptions
from rlint.rules.processes.rl401_busy_wait_sleep.poll_names import calls_off
from rlint.rules.processes.rl401_busy_wait_sleep.polls import Poll, PollKind
from rlint.rules.processes.rl401_busy_wait_sleep.wait import Wait

_ALONE, _BESIDES = "1.0", "0.1"  # maximum seconds of one wait, alone or if other conditions must be checked
_WAITS = {PollKind.EVENT: "wait", PollKind.WORKER: "join", PollKind.RESULT: "wait", PollKind.MESSAGE: "poll"}
_GUESSED = {
    PollKind.EVENT: "an event",
    PollKind.WORKER: "a thread or process",
}  # by the names of their methods
_LATER = "other conditions of the loop may be noticed up to 0.1 s late"


def direct_fix(wait: Wait, model: SemanticModel) -> Fix | None:
    """Return the fix that replaces the pause by a wait for the polled object, if there is one."""
    poll = _awaited(wait)
    if poll is None or wait.guard is not None or wait.counted or len(wait.pauses) > 1 or wait.loop.orelse:
        return None
    if any(not pause.fixed for pause in wait.pauses) or not repeatable(poll.subject, model):
        return None
    instead = _waiting(wait, poll, model)
    replaced = _replaced(wait)
    if instead is None or replaced is None:
        return None
    title = f"Block on `{shown(poll.subject, model)}` instead of polling"
    fix: Fix | None = fix_of(title, [model.edit.replace(replaced, instead)], list(_doubts(wait, poll, model)))
    return fix


def _awaited(wait: Wait) -> Poll | None:
    """Return the only object that ends the wait, besides flags that cancel it and workers that may die."""
    wanted = [poll for poll in wait.polls if not calls_off(poll.subject)] or wait.polls
    if len(wanted) > 1:
        wanted = [poll for poll in wanted if poll.sort is not PollKind.WORKER]
    if len(wanted) != 1 or wanted[0].sort not in (*_WAITS, PollKind.FUTURE):
        return None
    tested = descendants(wait.loop.test) if isinstance(wait.loop, ast.While) else ()
    return wanted[0] if wait.exact or any(node is wanted[0].node for node in tested) else None


def _replaced(wait: Wait) -> ast.AST | None:
    """Return the statement that the waiting call replaces: the sleep, or the `pass` of a loop without a
    pause.
    """
    if wait.pauses:
        expression: ast.expr = wait.pauses[0].expression
        return expression
    body = wait.loop.body
    return body[0] if len(body) == 1 and isinstance(body[0], (ast.Pass, ast.Continue, ast.Expr)) else None


def _waiting(wait: Wait, poll: Poll, model: SemanticModel) -> str | None:
    """Return the call that waits for the polled object."""
    subject, tag = model.edit.parenthesized(poll.subject), poll.kind.tag
    awaited = bool(wait.pauses and wait.pauses[0].awaited)
    if tag is TypeTag.INSTANCE:
        fits = poll.kind.of == "asyncio.Event" and awaited and wait.exact
        return f"await {subject}.wait()" if fits else None
    if awaited or isinstance(model.function(wait.loop), ast.AsyncFunctionDef):
        return None  # would block all other coroutines, too
    limit = _ALONE if wait.exact else _BESIDES
    if poll.sort is PollKind.FUTURE:
        function = (
            model.names.spelled("concurrent.futures.wait", wait.loop) if tag is TypeTag.FUTURE else None
        )
        return f"{function}([{subject}], timeout={limit})" if function else None
    if tag is TypeTag.UNKNOWN and poll.sort not in _GUESSED:
        return None
    cls = model.types.class_of_value(poll.subject)
    if cls is not None and model.index.method(cls, _WAITS[poll.sort]) is not None:
        return None  # an overridden `join` may do more than wait
    return f"{subject}.{_WAITS[poll.sort]}({limit})"


def _doubts(wait: Wait, poll: Poll, model: SemanticModel) -> Iterator[str]:
    if poll.kind.tag is TypeTag.UNKNOWN:
        yield f"`{shown(poll.subject, model)}` must be {_GUESSED[poll.sort]}"
    if not wait.exact:
        yield _LATER
    if poll.sort in _WAITS:
        yield from overridden(poll.subject, (_WAITS[poll.sort], _name_of(poll)), model)
    if poll.sort is PollKind.EVENT:
        yield from hazards(poll.kind, model)
    yield from interruptions(wait, poll, model)


def _name_of(poll: Poll) -> str:
    """Return the method that is polled."""
    called = poll.node.func if isinstance(poll.node, ast.Call) else poll.node
    return called.attr if isinstance(called, ast.Attribute) else "is_alive"
