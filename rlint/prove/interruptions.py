"""Handle Ctrl-C and SIGTERM during `rlint prove`: keep recorded data for the report, and clean up."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_NUMBERS = (signal.SIGINT, signal.SIGTERM)
_TRIES = 50
Taker = Callable[[int], None]


class Interruptions:
    """Handles both signals: each raises KeyboardInterrupt, unless another handler takes it."""

    def __init__(self) -> None:
        self.raised = 0
        """The signal that has raised KeyboardInterrupt; 0 if none has."""
        self._take: Taker | None = None

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Handle the signals of this process within the context, except those that it ignores."""
        before: dict[signal.Signals, Any] = {}
        if threading.current_thread() is threading.main_thread():
            for number in _NUMBERS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    before[number] = signal.signal(number, self._came)
        try:
            yield
        finally:
            for number, known in before.items():
                signal.signal(number, known)

    def _came(self, number: int, _frame: object) -> None:
        if self._take is not None:
            self._take(number)
        elif not self.raised:  # a second request changes nothing
            self.raised = number
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def taken_by(self, take: Taker) -> Iterator[None]:
        """Pass the signals to another handler within the context."""
        before, self._take = self._take, take
        try:
            yield
        finally:
            self._take = before

    @contextlib.contextmanager
    def folder(self) -> Iterator[Path]:
        """Create a private folder that is deleted afterwards in any case."""
        name = ""
        try:
            with self.taken_by(_ignore):
                name = tempfile.mkdtemp(prefix="rlint-prove-")
            yield Path(name).resolve()
        finally:
            self._take = _ignore
            if name:
                _remove(name)
            self._take = None


def _ignore(_number: int) -> None:
    """Do nothing: the running action takes a moment."""


def _remove(name: str) -> None:
    """Delete a folder that processes may still be writing to, which no longer find it under its name."""
    moved = f"{name}.gone"
    with contextlib.suppress(OSError):
        os.rename(name, moved)
    for folder in (moved, name):
        for _ in range(_TRIES):
            shutil.rmtree(folder, ignore_errors=True)
            if not os.path.lexists(folder):
                break
            time.sleep(0.02)
