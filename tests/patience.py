"""Time limits of tests, which must not depend on the speed of the machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

PATIENCE = 900.0
"""Seconds after which a process counts as hung, even on a slow or busy machine."""


def soon(happened: Callable[[], object]) -> bool:
    """Whether a condition becomes true within the time limit."""
    end = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class TimerUntil(threading.Thread):
    """Replaces `threading.Timer`: the time limit expires once a given event has happened, however long that
    takes.
    """

    def __init__(self, function: Callable[[], None], happened: Callable[[], bool]) -> None:
        super().__init__(daemon=True)
        self._function = function
        self._happened = happened
        self._cancelled = threading.Event()

    def run(self) -> None:
        """Wait for the event, and call the function."""
        while not self._cancelled.wait(0.02):
            if self._happened():
                self._function()
                return

    def cancel(self) -> None:
        """Wait no longer."""
        self._cancelled.set()
