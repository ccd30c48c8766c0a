"""Drive recorded generators and coroutines: what they were sent, or waited for, comes from the record."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Generator
from typing import Any

from rlint.prove.record import restored_objects as restored
from rlint.prove.replay.records import Suspensions

YIELDED = "the yielded values"
"""Under which the names that a call leaves hold what it yielded."""
_LEFT = "left by its consumer"
_now: Suspensions | None = None
_faithful = True
_answers: list[Any] = []


class YieldedValues:
    """What a generator yielded: the values, and what they were when they were yielded."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.then: list[Any] = []


def begin(suspensions: Suspensions | None, *, faithful: bool) -> None:
    """Let the call that follows have what came back in the run."""
    global _now, _faithful
    _now, _faithful = suspensions, faithful
    _answers[:] = suspensions.answers if suspensions is not None else []


def awaited(what: Any) -> Any:
    """Return what a coroutine was given where it waited; what it waits for is noted and not run."""
    name = type(what).__qualname__
    given: tuple[tuple[str, Any], ...] = ()
    if inspect.iscoroutine(what):
        frame = what.cr_frame
        name, given = what.__qualname__, tuple((frame.f_locals if frame is not None else {}).items())
        what.close()
    restored.LOG.append((f"await {name}", given, {}))
    if not _answers:
        raise restored.StandInError(f"`{name}` is awaited more often than in the run")
    return _answers.pop(0)


def driven(generator: Generator[Any, Any, Any]) -> tuple[str, Any, dict[str, Any]]:
    """Run a generator as far as it came in the run, and return how and with what it ended."""
    assert _now is not None
    found = YieldedValues()
    how, value, names = _LEFT, None, {}
    answers = iter(_now.answers)
    most = len(_now.values) if _now.unfinished else None
    try:
        one = next(generator)
        while True:
            found.values.append(one)
            if _faithful:
                found.then.append(_copied(one))
            if most is not None and len(found.values) >= most:
                break
            one = generator.send(next(answers, None))
    except StopIteration as end:
        how, value, names = end.value
    finally:
        generator.close()
    return how, value, {**names, YIELDED: found}


def _copied(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001 - objects refuse in their own words
        return value
