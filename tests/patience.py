"""How long tests wait for what takes a moment: no test says anything about the speed of the machine."""

from __future__ import annotations

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
