"""Folded stacks, a line each with the number of samples: `py-spy record --format raw`."""

from __future__ import annotations

import re
from collections import Counter

from rlint.profiles.profile_model import Frame
from rlint.profiles.stacks import Stack, Stacks

_LINE = re.compile(r"(?P<stack>.*) (?P<count>\d{1,18})")  # py-spy also counts samples without a stack
_FRAME = re.compile(r"(?P<name>.*?) \((?P<file>[^()]*?)(?::(?P<line>\d{1,9}))?\)")
_PROGRAM = re.compile(r"(process|thread) ")


def read(text: str) -> Stacks:
    """Read folded stacks whose frames are `function (file:line)`. Raises ValueError, with what is wrong."""
    numbers: dict[Frame, int] = {}
    weights: Counter[Stack] = Counter()
    threads = set()
    for row, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line.rstrip())
        if match is None:
            raise ValueError(f"line {row} is not a stack followed by a number of samples")
        names = match["stack"].split(";") if match["stack"] else []
        threads.add(tuple(name for name in names if _PROGRAM.match(name)))
        frames = [_frame(name) for name in names if not _PROGRAM.match(name)]
        weights[tuple(numbers.setdefault(frame, len(numbers)) for frame in frames)] += int(match["count"])
    if not any(frame.file for frame in numbers):
        raise ValueError("its frames name no files")
    return Stacks(
        list(numbers),
        {stack: float(count) for stack, count in weights.items()},
        format="folded stacks",
        unit="samples",
        threads=len(threads),
        may_have_lines=True,
    )


def _frame(text: str) -> Frame:
    match = _FRAME.fullmatch(text)
    if match is None:
        return Frame("", text, 0)
    return Frame(match["file"], match["name"], int(match["line"] or 0))
