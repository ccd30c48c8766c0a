"""Sleeps: the statements, their durations, and whether the duration sets a rate."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import SemanticModel, descendants, frozen, numbers
from rlint.rules.processes.rl401_busy_wait_sleep.poll_names import words_of

SHORT = 0.1
"""A pause of this many seconds or more costs nothing."""

_AWAITED = frozenset({"asyncio.sleep", "anyio.sleep", "trio.sleep"})
_RATES = frozenset(
    """fps hz dt freq frequency frame frames framerate tick ticks timestep rate render control sim latency
    backoff retry jitter speed realtime cooldown""".split()
)
_HIGHEST_RATE = 240  # `1 / 60` is a frame's time, `1 / 1000` a millisecond


@frozen
class Pause:
    """A statement that sleeps. `expression` is the part that a wait replaces: the call, with its `await`.

    `seconds` is None if it is unknown, or if the duration sets a rate on purpose. `fixed` says that the
    duration is a constant in the code, not a default that a caller may change.
    """

    statement: ast.Expr
    call: ast.Call
    expression: ast.expr
    awaited: bool
    seconds: float | None
    fixed: bool

    @property
    def short(self) -> bool:
        """Whether this pause certainly is short enough to be costly."""
        return self.seconds is not None and 0 <= self.seconds < SHORT


def pause_of(statement: ast.stmt, model: SemanticModel) -> Pause | None:
    """Return the sleep that a statement is, if it is one."""
    match statement:
        case ast.Expr(value=ast.Await(value=ast.Call() as call)):
            if model.names.qualified(call.func) in _AWAITED:
                return _pause(statement, call, model, awaited=True)
        case ast.Expr(value=ast.Call() as call):
            if model.names.qualified(call.func) == "time.sleep":
                return _pause(statement, call, model, awaited=False)
    return None


def own_pauses(block: list[ast.stmt], model: SemanticModel) -> Iterator[Pause]:
    """Yield the sleeps of a loop's body, without those of inner loops and functions."""
    for statement in block:
        pause = pause_of(statement, model)
        if pause is not None:
            yield pause
        elif isinstance(statement, (ast.If, ast.With, ast.AsyncWith, ast.Try)):
            for part in ("body", "orelse", "finalbody"):
                yield from own_pauses(getattr(statement, part, []), model)
            for handler in getattr(statement, "handlers", []):
                yield from own_pauses(handler.body, model)


def _pause(statement: ast.Expr, call: ast.Call, model: SemanticModel, *, awaited: bool) -> Pause:
    number = None
    match call:
        case ast.Call(args=[length], keywords=[]) | ast.Call(args=[], keywords=[ast.keyword(value=length)]):
            if not _is_intended_duration(length):
                number = numbers.number_of(length, model)
    seconds, fixed = (number.value, number.fixed) if number is not None else (None, False)
    return Pause(statement, call, statement.value, awaited, seconds, fixed)


def _is_intended_duration(length: ast.expr) -> bool:
    """Whether the duration is the purpose of the sleep: `sleep(1 / 60)`, `sleep(self.dt)`,
    `sleep(RETRY_DELAY)`.
    """
    for node in descendants(length):
        match node:
            case ast.BinOp(left=ast.Constant(value=1 | 1.0), op=ast.Div(), right=ast.Constant(value=rate)):
                if isinstance(rate, (int, float)) and rate <= _HIGHEST_RATE:
                    return True
            case ast.Name(id=name) | ast.Attribute(attr=name):
                if _RATES & words_of(name):
                    return True
    return False
