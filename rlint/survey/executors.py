"""Where tasks run: what a survey needs of Ray, and the same within one process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

Work = Callable[..., Any]


class LostWorkError(Exception):
    """A worker or node has gone with the task that it was given. The message says what Ray knows."""


class Executor(Protocol):
    """Runs functions elsewhere. Tickets stand for what is under way."""

    @property
    def slots(self) -> int:
        """How many tasks run at once, as far as is known now."""

    def submit(self, work: Work, *arguments: object) -> object:
        """Start a function and return its ticket."""

    def finished(self) -> list[tuple[object, Any]]:
        """Wait for a while, and return the tickets of what has ended, each once, with the result or with the
        LostWorkError.
        """

    def stop(self) -> None:
        """End what is under way."""


class InProcess:
    """Runs one task after the other, here."""

    slots = 1

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, Work, tuple[object, ...]]] = deque()
        self._count = 0

    def submit(self, work: Work, *arguments: object) -> object:
        """Take a task."""
        self._count += 1
        self._waiting.append((self._count, work, arguments))
        return self._count

    def finished(self) -> list[tuple[object, Any]]:
        """Do the next task."""
        if not self._waiting:
            return []
        ticket, work, arguments = self._waiting.popleft()
        try:
            return [(ticket, work(*arguments))]
        except LostWorkError as error:
            return [(ticket, error)]

    def stop(self) -> None:
        """Forget the tasks."""
        self._waiting.clear()
