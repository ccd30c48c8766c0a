"""Drive recorded generators and coroutines: the values sent to them, or awaited, come from the record."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Generator
from typing import Any

from rlint.prove.record import restored_objects as restored
from rlint.prove.replay.records import Suspensions

YIELDED = "the yielded values"
"""Key of the yielded values among the names that a call leaves."""
_LEFT = "left by its consumer"
_now: Suspensions | None = None
_faithful = True
_answers: list[Any] = []


class YieldedValues:
    """The values that a generator yielded, with their state at that time."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.then: list[Any] = []


def begin(suspensions: Suspensions | None, *, faithful: bool) -> None:
    """Provide the values that were sent back in the run to the next call."""
    global _now, _faithful
    _now, _faithful = suspensions, faithful
    _answers[:] = suspensions.answers if suspensions is not None else []


def awaited(what: Any) -> Any:
    """Return what a coroutine received for an awaited object, which is recorded and not run."""
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
    """Run a generator as far as it ran in the run, and return how and with what it ended."""
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
