"""Threads and child processes that a run has started and not ended."""

from __future__ import annotations

import re
import sys
import threading
import time
from dataclasses import dataclass
from typing import Any

from rlint.harness.compare.texts import name_of

_PATIENCE = 0.5  # maximum seconds to wait for a thread or process that is about to end
_LEAST_PATIENCE = 0.02
_PAUSE = 0.002


@dataclass(slots=True)
class Leftovers:
    """Detects threads and processes that runs leave behind. Waits for a shorter time if earlier runs have
    left some for good.
    """

    _patience: float = _PATIENCE

    def running(self) -> frozenset[Any]:
        """Return the threads and processes that run now besides this thread."""
        return frozenset(one for one in (*threading.enumerate(), *_children()) if one.is_alive())

    def since(self, before: frozenset[Any]) -> list[str]:
        """Describe the threads and processes that have started since then and had time to end."""
        end = time.monotonic() + self._patience
        while left := self.running() - before:
            if time.monotonic() > end:
                self._patience = max(_LEAST_PATIENCE, self._patience / 2)
                break
            time.sleep(_PAUSE)
        return sorted(map(_described, left))


def _children() -> list[Any]:
    multiprocessing = sys.modules.get("multiprocessing")
    return [] if multiprocessing is None else multiprocessing.active_children()


def _described(one: Any) -> str:
    name = re.sub(r"\d+", "N", one.name)  # numbers count all that were ever started
    return f"{name_of(type(one))} {name}{' (daemon)' if one.daemon else ''}"
