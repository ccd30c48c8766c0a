"""What a measurement is of, as hashes: evidence whose hashes are no longer today's is stale.

The key of evidence is what was run, not how it came about: the program of the fixture, the workload that
drives it, and the texts that the fixer makes of the program. To move or reword the code of a rule makes no
evidence stale; to change what its fix writes does.
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
"""Changes when figures of the harness are no longer comparable with older ones."""


@frozen
class Hashes:
    """The three things that a measurement depends on."""

    fixture: str
    """The bytes of `before.py` and `workload.py`."""
    fix: str
    """The texts that the fixer makes of `before.py`, with safe fixes alone and with all."""
    harness: str = MEASURING
    """How it was measured: MEASURING at the time."""

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
    """Hash the files of a fixture that are run; one that is missing counts as empty."""
    files = [folder / name for name in FIXTURE_FILES]
    return _digest([_bytes(path).replace(b"\r\n", b"\n") for path in files])


def hash_of_texts(safe: str, unsafe: str) -> str:
    """Hash what the fixer makes of a program."""
    return _digest([safe, unsafe])


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise RlintError(f"{path}: cannot be read: {error.strerror or error}") from error


def _digest(parts: Iterable[str | bytes]) -> str:
    import hashlib  # not loaded by those who only read evidence

    total = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        total.update(b"%d:" % len(data))  # so that the parts cannot run into one another
        total.update(data)
    return total.hexdigest()[:_DIGITS]
