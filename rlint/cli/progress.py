"""A progress line for a long command, on a terminal only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from rlint.harness.session_options import Progress


@contextmanager
def progress_on(stream: IO[str], *, quiet: bool, label: str = "verify") -> Iterator[Progress]:
    """Show progress on `stream` within the context, if it is a terminal."""
    if quiet or not stream.isatty():
        from rlint.harness.session_options import Silent

        yield Silent()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn(label),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Bar(*columns, console=Console(file=stream), transient=True) as bar:
        yield _Shown(bar, bar.add_task("", total=0))


class _Shown:
    """Passes progress on to rich, which does its own locking."""

    def __init__(self, bar: Bar, task: TaskID) -> None:
        self._bar = bar
        self._task = task
        self._total = 0

    def expect(self, steps: int) -> None:
        """Announce `steps` more steps."""
        self._total += steps
        self._bar.update(self._task, total=self._total)

    def begin(self, what: str) -> None:
        """Show what is being done now."""
        self._bar.update(self._task, description=what)

    def advance(self, steps: int = 1) -> None:
        """Record completed steps."""
        self._bar.advance(self._task, steps)
