"""How long tests wait for what takes a moment: no test says anything about the speed of the machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

PATIENCE = 900.0
"""Seconds after which something hangs, however slow or busy the machine is."""


def soon(happened: Callable[[], object]) -> bool:
    """Whether something happens while one is patient."""
    end = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class TimerUntil(threading.Thread):
    """Stands for `threading.Timer`, with a time limit that is over once something has happened, however long
    a busy machine takes to get there.
    """

    def __init__(self, function: Callable[[], None], happened: Callable[[], bool]) -> None:
        super().__init__(daemon=True)
        self._function = function
        self._happened = happened
        self._cancelled = threading.Event()

    def run(self) -> None:
        """Wait for it, and call the function."""
        while not self._cancelled.wait(0.02):
            if self._happened():
                self._function()
                return

    def cancel(self) -> None:
        """Wait no longer."""
        self._cancelled.set()
