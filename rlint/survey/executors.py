"""Executors of tasks: the part of Ray that a survey uses, and the same within one process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

Work = Callable[..., Any]


class LostWorkError(Exception):
    """A worker or node was lost with its task. The message is Ray's."""


class Executor(Protocol):
    """Runs functions elsewhere. Tickets identify running tasks."""

    @property
    def slots(self) -> int:
        """Return how many tasks run at once, as far as is known now."""

    def submit(self, work: Work, *arguments: object) -> object:
        """Start a function and return its ticket."""

    def finished(self) -> list[tuple[object, Any]]:
        """Wait for a while, and return the tickets of finished tasks, each once, with the result or with the
        LostWorkError.
        """

    def stop(self) -> None:
        """Cancel running tasks."""


class InProcess:
    """Runs one task after the other, in this process."""

    slots = 1

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, Work, tuple[object, ...]]] = deque()
        self._count = 0

    def submit(self, work: Work, *arguments: object) -> object:
        """Queue a task."""
        self._count += 1
        self._waiting.append((self._count, work, arguments))
        return self._count

    def finished(self) -> list[tuple[object, Any]]:
        """Run the next task."""
        if not self._waiting:
            return []
        ticket, work, arguments = self._waiting.popleft()
        try:
            return [(ticket, work(*arguments))]
        except LostWorkError as error:
            return [(ticket, error)]

    def stop(self) -> None:
        """Discard the tasks."""
        self._waiting.clear()
