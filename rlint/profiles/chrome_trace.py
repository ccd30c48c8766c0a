"""Chrome traces of torch.profiler, recorded with `with_stack=True`."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Any

from rlint.profiles.marshalled import number
from rlint.profiles.profile_model import Frame
from rlint.profiles.stacks import DEEPEST, Stack, Stacks

_FUNCTION = re.compile(r"(?P<file>.+)\((?P<line>\d{1,9})\): (?P<name>.+)")
_ADDRESS = re.compile(r" (?:object )?at 0x[0-9a-f]+", re.IGNORECASE)
_MICROSECOND = 1e-6
_LONGEST = 5_000
"""Maximum number of characters of the name of a function with its file. A longer one is not a name."""


def looks_like_it(data: object) -> bool:
    """Whether a JSON document is a Chrome trace, as an object or as a bare list of events."""
    if isinstance(data, dict):
        return "traceEvents" in data
    return isinstance(data, list) and any(isinstance(event, dict) and "ph" in event for event in data[:100])


def read(data: Any) -> Stacks:
    """Read a trace. Raises ValueError, with what is wrong."""
    events = data["traceEvents"] if isinstance(data, dict) else data
    if not isinstance(events, list):
        raise ValueError("its `traceEvents` are no list")  # noqa: TRY004 - one kind of error for all damage
    numbers: dict[Frame, int] = {}
    calls: Counter[int] = Counter()
    threads: dict[tuple[str, str], list[tuple[float, float, int]]] = defaultdict(list)
    for event in events:
        if not isinstance(event, dict) or event.get("cat") != "python_function" or event.get("ph") != "X":
            continue
        start, duration = number(event.get("ts")), number(event.get("dur"))
        frame = numbers.setdefault(_frame(str(event.get("name"))), len(numbers))
        calls[frame] += 1
        threads[str(event.get("pid")), str(event.get("tid"))].append((start, duration, frame))
    if not threads:
        raise ValueError("it was recorded without the Python stacks; record it with `with_stack=True`")
    weights: Counter[Stack] = Counter()
    for spans in threads.values():
        _add_own_times(spans, weights)
    return Stacks(
        list(numbers),
        {stack: time * _MICROSECOND for stack, time in weights.items()},
        format="torch.profiler trace",
        threads=len(threads),
        calls=calls,
    )


def _frame(name: str) -> Frame:
    match = _FUNCTION.fullmatch(name) if len(name) <= _LONGEST else None
    if match is None:
        return Frame("", _ADDRESS.sub("", name), 0)
    return Frame(match["file"], match["name"], int(match["line"]))


def _add_own_times(spans: list[tuple[float, float, int]], weights: Counter[Stack]) -> None:
    """Convert the nested spans of one thread to stacks, each with the time outside of nested spans."""
    spans.sort(key=lambda span: (span[0], -span[1]))
    opened: list[tuple[float, int]] = []
    before = 0.0

    def pass_time(until: float) -> None:
        nonlocal before
        if opened and until > before:
            weights[tuple(frame for _, frame in opened)] += until - before  # type: ignore[assignment]
        before = max(before, until)

    for start, duration, frame in spans:
        while opened and opened[-1][0] <= start:
            pass_time(opened[-1][0])
            opened.pop()
        pass_time(start)
        if len(opened) == DEEPEST:
            continue
        end = start + max(duration, 0.0)
        opened.append((min(end, opened[-1][0]) if opened else end, frame))  # rounding may let one stick out
    while opened:
        pass_time(opened[-1][0])
        opened.pop()
