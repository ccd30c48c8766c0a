"""How to start a program under the runner, for each usual way of starting programs."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rlint.errors import RlintError

RUNNER = Path(__file__).with_name("runner.py")

_PYTHON = re.compile(r"(python|pypy)[\d.]*w?(\.exe)?", re.IGNORECASE)
_SHEBANG = re.compile(rb"#![ \t]*(?P<first>\S+)(?:[ \t]+(?P<rest>[^\r\n]*))?")
_LONG_SHEBANG = re.compile(rb"'''exec' (?P<quote>\"?)(?P<python>[^\"\r\n]+?)(?P=quote) \"\$0\"")
"""The first lines of a script that pip writes if the path of its Python is too long for a shebang."""


@dataclass(frozen=True, slots=True)
class Program:
    """A parsed command."""

    launcher: tuple[str, ...]
    """The command before the Python: `uv run`."""
    python: tuple[str, ...]
    """The Python interpreter with its options."""
    kind: str
    """"script", "module" or "code"."""
    target: str
    arguments: tuple[str, ...]

    def started(self, options: str) -> list[str]:
        """Return the command that starts it under the runner, without the launcher."""
        return [*self.python, str(RUNNER), options, self.kind, self.target, *self.arguments]


def program_of(command: Sequence[str]) -> Program:
    """Parse a command: `python train.py`, `python -m package`, `train.py`, a script installed by pip, or any
    of these after a launcher. Raises RlintError where no Python program is recognised.
    """
    first = command[0]
    if _is_python(first):
        return _of_python((), command)
    if first.endswith((".py", ".pyw", ".pyz")):
        _require_file(first)
        return Program((), (_default_python(),), "script", first, tuple(command[1:]))
    for place in range(1, len(command)):
        if _is_python(command[place]):
            return _of_python(tuple(command[:place]), command[place:])
    found = shutil.which(first)
    if found is None:
        raise RlintError(f"no such program: `{first}`")
    python = _python_of_script(Path(found))
    if python is None:
        raise RlintError(
            f"cannot tell which Python runs `{first}`; name it, as in "
            f"`rlint profile -- {first} … python train.py` or `rlint profile -- python -m package`"
        )
    return Program((), python, "script", found, tuple(command[1:]))


def _is_python(word: str) -> bool:
    return _PYTHON.fullmatch(re.split(r"[\\/]", word)[-1]) is not None


def _default_python() -> str:
    found = shutil.which("python") or shutil.which("python3")
    if found is None:
        raise RlintError(
            "there is no `python` on the path; name one, as in `rlint profile -- python3 train.py`"
        )
    return found


def _of_python(launcher: tuple[str, ...], command: Sequence[str]) -> Program:
    """Return the script, module or code after the options of a Python."""
    if not launcher and shutil.which(command[0]) is None:
        raise RlintError(f"no such program: `{command[0]}`")
    place = 1
    while place < len(command):
        word = command[place]
        if not word.startswith("-") or word == "-":
            break
        if word == "--check-hash-based-pycs":
            place += 2
            continue
        kind, value, taken = _short_options(word, command[place + 1 :])
        if kind is not None:
            before = word[: word.index("m" if kind == "module" else "c")]  # "-u" of "-um"
            python = (*command[:place], *([before] if before != "-" else []))
            return Program(launcher, python, kind, value, tuple(command[place + taken :]))
        place += taken
    if place >= len(command) or command[place] == "-":
        raise RlintError(f"`{' '.join(command)}` names no script or module to profile")
    script = command[place]
    if not launcher:
        _require_file(script)
    return Program(launcher, tuple(command[:place]), "script", script, tuple(command[place + 1 :]))


def _short_options(word: str, following: Sequence[str]) -> tuple[str | None, str, int]:
    """Return, for a word of one-letter options, what it runs, if anything, and how many words that takes."""
    if word.startswith("--"):
        return None, "", 1
    for number, letter in enumerate(word[1:], 2):
        rest = word[number:]
        if letter in "cm":
            if not rest and not following:
                raise RlintError(f"`{word}` names nothing to run")
            return ("module" if letter == "m" else "code"), rest or following[0], 1 if rest else 2
        if letter in "WX":
            return None, "", 1 if rest else 2
    return None, "", 1


def _require_file(script: str) -> None:
    if not Path(script).exists():
        raise RlintError(f"no such file: `{script}`")


def _python_of_script(path: Path) -> tuple[str, ...] | None:
    """Return the interpreter in the first lines of a script."""
    try:
        with path.open("rb") as file:
            head = file.read(1024)
    except OSError:
        return None
    if found := _LONG_SHEBANG.search(head):
        return (found["python"].decode("utf-8", "surrogateescape"),)
    match = _SHEBANG.match(head)
    if match is None:
        return None
    first = match["first"].decode("utf-8", "surrogateescape")
    rest = tuple((match["rest"] or b"").decode("utf-8", "surrogateescape").split())
    if re.split(r"[\\/]", first)[-1] == "env":
        rest = rest[1:] if rest[:1] == ("-S",) else rest
        first, rest = (rest[0], rest[1:]) if rest else ("", ())
    return (first, *rest) if _is_python(first) else None
