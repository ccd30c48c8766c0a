"""Time limit for runs in this process, such as a loop that waits for a number that is never reached."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

_AGAIN = 0.5  # seconds; a program may catch the first exception


class OutOfTimeError(BaseException):
    """The time limit was reached. Derived from BaseException, as programs catch Exception."""


@contextlib.contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Raise OutOfTimeError within the context after this many seconds, if the system has such a timer."""
    if (
        seconds is None
        or not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    within = True

    def ring(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as signals call it
        if within:
            raise OutOfTimeError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        within = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
