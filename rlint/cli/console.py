"""Messages to the user besides the report itself."""

from __future__ import annotations

import stat
import sys
from typing import TYPE_CHECKING

import click

from rlint.errors import RlintError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rlint.cli.request import Request
    from rlint.findings import Problem


class Console:
    """Writes messages according to `--quiet`, `--silent` and `--verbose`."""

    def __init__(self, request: Request) -> None:
        self._request = request

    def note(self, text: str) -> None:
        """Write a message to standard error."""
        if not (self._request.quiet or self._request.silent):
            click.echo(_shown(text), err=True)

    def detail(self, text: str) -> None:
        """Write a message that only `--verbose` shows."""
        if self._request.verbose:
            click.echo(_shown(text), err=True)

    def problems(self, problems: Iterable[Problem]) -> None:
        """Write problems that kept files from being checked; no option silences them."""
        from rlint.output.terminal import printable

        for problem in problems:
            # a file name may contain terminal control sequences
            click.echo(f"error: {printable(str(problem))}", err=True)

    def report(self, text: str, *, err: bool = False) -> None:
        """Print the report, or write it to the file that the user names."""
        if self._request.silent:
            return
        path = self._request.output_file
        if path is not None and not err:
            write_text(path, text)
        elif text:
            stream = sys.stderr if err else sys.stdout
            stream.write(text if text.endswith("\n") else text + "\n")


def _shown(text: str) -> str:
    """Return a message without terminal control sequences, which file names may contain."""
    from rlint.output.terminal import printable

    return "\n".join(map(printable, text.split("\n")))


def terminal_width(*, err: bool = False) -> int | None:
    """Return the width of the terminal that a report is written to; None if it goes elsewhere."""
    stream = sys.stderr if err else sys.stdout
    if not stream.isatty():
        return None
    import shutil

    return shutil.get_terminal_size().columns


def write_text(path: Path, text: str) -> None:
    """Write a report to a file in one step; its folder is created if needed."""
    from rlint.source.atomic_write import replace_file

    data = (text if text.endswith("\n") else text + "\n").encode("utf-8", "backslashreplace")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        status = path.stat() if path.exists() else None
        if status is None or stat.S_ISREG(status.st_mode):
            replace_file(path.resolve(), data, like=status)
        else:
            path.write_bytes(data)  # a device or a pipe, such as /dev/stdout, is not replaced
    except (OSError, RuntimeError) as error:  # before Python 3.13, a loop of links is a RuntimeError
        reason = getattr(error, "strerror", None) or error
        raise RlintError(f"{path}: cannot write the report: {reason}") from error


def count(number: int, noun: str) -> str:
    """Return a number with its noun: "1 file", "2 files"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
