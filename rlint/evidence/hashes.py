"""Hashes of the inputs of a measurement: evidence with other hashes is stale.

The key of evidence is the text that was run: the program of the fixture, the workload that drives it, and the
fixed texts of the program. Moving or rewording the code of a rule keeps evidence valid; changing the text
that its fix writes does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rlint.errors import RlintError
from rlint.frozen import frozen

_DIGITS = 16  # hexadecimal
FIXTURE_FILES = ("before.py", "workload.py")
"""The files of a fixture that are run."""
MEASURING = "1"
"""Changed when figures of the harness are no longer comparable with older ones."""


@frozen
class Hashes:
    """The three inputs of a measurement."""

    fixture: str
    """The bytes of `before.py` and `workload.py`."""
    fix: str
    """The fixed texts of `before.py`, with safe fixes only and with all."""
    harness: str = MEASURING
    """The version of the harness: MEASURING at the time."""

    def changes(self, *, fixture: str, fix: str | None = None) -> list[str]:
        """Return what has changed since, each as a clause. A fix that is not given counts as unchanged."""
        said = []
        if fixture != self.fixture:
            said.append("its fixture has changed since")
        if fix not in (None, self.fix):
            said.append("its fix now gives another text")
        if self.harness != MEASURING:
            said.append("rlint has measured otherwise since")
        return said


def hash_of_fixture(folder: Path) -> str:
    """Hash the files of a fixture that are run; a missing one counts as empty."""
    files = [folder / name for name in FIXTURE_FILES]
    return _digest([_bytes(path).replace(b"\r\n", b"\n") for path in files])


def hash_of_texts(safe: str, unsafe: str) -> str:
    """Hash the fixed texts of a program."""
    return _digest([safe, unsafe])


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise RlintError(f"{path}: cannot be read: {error.strerror or error}") from error


def _digest(parts: Iterable[str | bytes]) -> str:
    import hashlib  # not imported by readers of evidence

    total = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        total.update(b"%d:" % len(data))  # so that the parts are separated
        total.update(data)
    return total.hexdigest()[:_DIGITS]
