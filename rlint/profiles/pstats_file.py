"""Dumps of cProfile and profile: `python -m cProfile -o FILE`, `Profile.dump_stats`, `pstats`."""

from __future__ import annotations

from typing import Any

from rlint.profiles import marshalled
from rlint.profiles.call_profile import ProfileEdge, ProfileEntry, ProfileGraph
from rlint.profiles.profile_model import Frame

_BUILTIN_FILE = "~"


def looks_like_it(head: bytes) -> bool:
    """Whether a file with this beginning is a marshalled dict with tuples as keys, or an empty one."""
    return head[:1] in (b"{", b"\xfb") and head[1:2] in (b"(", b"\xa8", b")", b"\xa9", b"0")


def read(data: bytes) -> ProfileGraph:
    """Read a dump. Raises ValueError, with what is wrong."""
    stats = marshalled.loads(data)
    if not isinstance(stats, dict):
        raise ValueError("it holds no table of functions")  # noqa: TRY004 - one kind of error for all damage
    keys = list(stats)
    numbers = {key: number for number, key in enumerate(keys)}
    frames = [_frame(key) for key in keys]
    entries: list[ProfileEntry] = []
    edges: list[ProfileEdge] = []
    for number, key in enumerate(keys):
        entry, callers = _entry(stats[key])
        entries.append(entry)
        for caller, times in callers.items():
            if not (isinstance(times, tuple) and len(times) == 4):
                # `profile`, the pure-Python variant of cProfile, counts the calls from each caller, without
                # times
                raise ValueError("it does not say how long calls took by caller; record it with cProfile")
            if caller in numbers:  # a filtered dump may lack some
                own, inclusive = (max(marshalled.number(time), 0.0) for time in times[2:])
                edges.append(ProfileEdge(numbers[caller], number, own, inclusive))
    graph = ProfileGraph(frames, entries, edges)
    if graph.total <= 0:
        raise ValueError("no time was spent in it")
    return graph


def _frame(key: object) -> Frame:
    match key:
        case (str() as file, int() as line, str() as name):
            return Frame("" if file == _BUILTIN_FILE else file, name, max(line, 0))
    raise ValueError("a function in it has no file, line and name")


def _entry(value: object) -> tuple[ProfileEntry, dict[Any, Any]]:
    match value:
        case (_, calls, own, inclusive, dict() as callers):
            times = [max(marshalled.number(time), 0.0) for time in (own, inclusive)]
            return ProfileEntry(int(marshalled.number(calls)), *times), callers
    raise ValueError("a function in it has no times")
