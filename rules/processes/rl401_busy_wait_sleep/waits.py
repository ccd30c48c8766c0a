"""Waits: loops, and branches of loops, whose iterations only poll whether there is something to do yet."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import SemanticModel, is_in, waiting_words
from rlint.rules.processes.rl401_busy_wait_sleep.branches import branch_wait, round_wait
from rlint.rules.processes.rl401_busy_wait_sleep.idle import Idle, leaves, means_not_there
from rlint.rules.processes.rl401_busy_wait_sleep.looks import Looks
from rlint.rules.processes.rl401_busy_wait_sleep.pauses import own_pauses
from rlint.rules.processes.rl401_busy_wait_sleep.poll_names import calls_off, words_of
from rlint.rules.processes.rl401_busy_wait_sleep.polls import Poll, PollKind
from rlint.rules.processes.rl401_busy_wait_sleep.wait import Wait, WaitLoop, drains, ends_when_empty


def waits_in(loop: WaitLoop, model: SemanticModel) -> Iterator[Wait]:
    """Yield the waits that a loop itself makes, without those of nested loops."""
    sleeps = any(is_in(call, loop) for call in model.names.calls_by_name.get("sleep", ()))
    if isinstance(loop, ast.For) and not sleeps:
        return
    if _keeps_a_limit(loop, model):
        return
    whole = _whole(loop, model, strict=False) if sleeps else None
    if whole is not None and whole.pauses:
        if all(pause.short for pause in whole.pauses):
            yield whole
        return
    if isinstance(loop, ast.While):
        spin = _spin(loop, model)
        if spin is not None:
            yield spin
            return
    for pause in own_pauses(loop.body, model):
        if pause.short:
            found = branch_wait(loop, pause, model) or round_wait(loop, pause, model)
            if found is not None:
                yield found


def _keeps_a_limit(loop: WaitLoop, model: SemanticModel) -> bool:
    """Whether the loop is in a rate limiter or the like."""
    around = [place.name for place in (model.function(loop), model.class_of(loop)) if place is not None]
    around.append(model.module.module.rpartition(".")[2])
    return any(waiting_words.PLACES & words_of(name) for name in around)


def _whole(loop: WaitLoop, model: SemanticModel, *, strict: bool) -> Wait | None:
    """Return the wait that a loop is, if all its iterations only wait."""
    looks = Looks(model, loop, strict=strict)
    idle = Idle(model, looks)
    if isinstance(loop, ast.While):
        looked: list[Poll] | None = looks.polls(loop.test, holds=True)
        if looked is None:
            return None
        found = looked
    elif isinstance(loop.iter, ast.Call) and model.names.qualified(loop.iter.func) == "builtins.range":
        found = list[Poll]()
        idle.counted = True
    else:
        return None
    if not idle.block(loop.body) or drains(loop, found):
        return None
    always = isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant)
    polls = [*found, *idle.polls]
    fetched = _fetches(loop, looks) if not polls else []
    if not polls and not fetched:
        return None
    if not found and not always and all(calls_off(poll.subject) for poll in polls):
        return None  # waits for a moment, unless it is cancelled
    one_test = always or not idle.polls
    exact = (
        len(polls) == 1
        and one_test
        and not idle.others
        and not loop.orelse
        and _single(loop, polls[0], model)
    )
    return Wait(loop, idle.pauses, polls or fetched, None, exact, idle.counted)


def _single(loop: WaitLoop, poll: Poll, model: SemanticModel) -> bool:
    """Whether the condition of the loop (or of the `if` that leaves it) is exactly the poll, possibly
    negated.
    """
    parent = model.parent(poll.node)
    if isinstance(parent, ast.UnaryOp):
        parent = model.parent(parent)
    return parent is loop or (isinstance(parent, ast.If) and model.parent(parent) is loop)


def _fetches(loop: WaitLoop, looks: Looks) -> list[Poll]:
    """Return what a loop attempts to fetch: `while True: try: return self.slots[key] except KeyError:
    sleep(0.01)`.
    """
    found: list[Poll] = []
    for statement in loop.body:
        if isinstance(statement, ast.Try):
            for taking in statement.body[:1]:
                value = getattr(taking, "value", None)
                if isinstance(value, ast.expr):
                    found += looks.polls(value, holds=False) or []
    return found


def _spin(loop: ast.While, model: SemanticModel) -> Wait | None:
    """Return the wait of a loop that polls without any pause, in all of its iterations or in those that find
    nothing.
    """
    looks = Looks(model, loop, strict=True)
    outer = looks.polls(loop.test, holds=True)
    if outer is None:
        return None
    whole = _whole(loop, model, strict=True)
    if whole is not None:
        return whole
    idle = Idle(model, looks)
    for statement in loop.body:
        last = statement is loop.body[-1]
        match statement:
            case ast.If(test=test, body=body, orelse=[]) if isinstance(body[-1], ast.Continue):
                found = looks.polls(test, holds=True)
                ended = found and ends_when_empty(loop, found[0])
                if found and not ended and idle.block(body) and not idle.pauses:
                    return Wait(loop, [], [*found, *outer], statement)
            case ast.If() if last and all(isinstance(before, ast.With) for before in loop.body[:-1]):
                return _spin_in_last(loop, statement, looks, outer)
            case ast.Try(body=[taking, *_], handlers=[handler], finalbody=[]) if means_not_there(handler):
                value = getattr(taking, "value", None)
                found = looks.polls(value, holds=False) if isinstance(value, ast.Call) else None
                ends = isinstance(handler.body[-1], ast.Continue) or (last and not leaves(handler.body))
                if (
                    found
                    and found[0].sort is PollKind.DATA
                    and ends
                    and not ends_when_empty(loop, found[0])
                    and Idle(model, looks).block(handler.body)
                ):
                    handled = Idle(model, looks)
                    handled.block(handler.body)
                    return Wait(loop, [], [*found, *outer], handler) if not handled.pauses else None
        if not idle.block([statement]) or idle.pauses:
            return None
    return None


def _spin_in_last(loop: ast.While, last: ast.If, looks: Looks, outer: list[Poll]) -> Wait | None:
    """Return the wait of a loop whose last statement handles what a poll finds: `if not results.empty():
    handle(results.get())`, also below a test that ends the loop: `if running: … else: break`.
    """
    ends = list[Poll]()
    while last.orelse or leaves(last.body):
        inner, ending = (last.body, last.orelse) if leaves(last.orelse) else (last.orelse, last.body)
        tested = looks.polls(last.test, holds=inner is last.body)
        match inner:
            case [ast.If() as nested] if tested is not None and leaves(ending):
                ends += tested
                last = nested
            case _:
                return None
    found = looks.polls(last.test, holds=False)
    return Wait(loop, [], [*found, *ends, *outer]) if found else None
