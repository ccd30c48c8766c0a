"""Speedscope files, as py-spy, pyinstrument and others write them: https://www.speedscope.app/file-format-schema.json"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from rlint.profiles.profile_model import Frame
from rlint.profiles.stacks import DEEPEST, Stack, Stacks

_SECONDS = {"seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}


def looks_like_it(data: object) -> bool:
    """Whether a JSON document is a speedscope file."""
    return isinstance(data, dict) and "profiles" in data and "shared" in data


def read(data: dict[str, Any]) -> Stacks:
    """Read a document. Raises ValueError, with what is wrong."""
    try:
        frames = [_frame(frame) for frame in data["shared"]["frames"]]
        profiles = list(data["profiles"])
        weights: Counter[Stack] = Counter()
        units = {str(profile.get("unit", "none")) for profile in profiles}
        if len(units) > 1:
            raise ValueError("its profiles have different units")
        unit = units.pop() if units else "none"
        if unit not in _SECONDS and unit != "none":
            raise ValueError(f"it measures {unit}, not time")
        for profile in profiles:
            for stack, weight in _stacks(profile):
                if stack and not 0 <= min(stack) <= max(stack) < len(frames):
                    raise ValueError("a stack in it refers to a frame that does not exist")
                weights[stack] += weight * _SECONDS.get(unit, 1.0)  # type: ignore[assignment]
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        raise ValueError(f"it is no complete speedscope file ({type(error).__name__}: {error})") from error
    exporter = str(data.get("exporter") or data.get("name") or "a profiler").partition("@")[0]
    return Stacks(
        frames,
        weights,
        format=f"{exporter} (speedscope)",
        unit="s" if unit in _SECONDS else "samples",
        threads=len(profiles),
        may_have_lines=True,
    )


def _frame(data: dict[str, Any]) -> Frame:
    line = data.get("line")
    return Frame(
        str(data.get("file") or ""), str(data["name"]), line if isinstance(line, int) and line > 0 else 0
    )


def _stacks(profile: dict[str, Any]) -> Iterable[tuple[Stack, float]]:
    if profile["type"] == "sampled":
        samples, weights = profile["samples"], profile.get("weights")
        for number, sample in enumerate(samples):
            yield _indices(sample), float(weights[number]) if weights else 1.0
    elif profile["type"] == "evented":
        yield from _from_events(profile["events"])
    else:
        raise ValueError(f"it has a profile of the unknown type {profile['type']!r}")


def _indices(sample: object) -> Stack:
    if not isinstance(sample, list) or not all(isinstance(frame, int) for frame in sample):
        raise ValueError("a sample in it is no list of frames")
    return tuple(sample)


def _from_events(events: list[dict[str, Any]]) -> Iterable[tuple[Stack, float]]:
    """Yield each stack with the time between two events in which it was open."""
    opened: list[int] = []
    before = 0.0
    for event in events:
        at = float(event["at"])
        if opened and at > before:
            yield tuple(opened[:DEEPEST]), at - before
        before = at
        if event["type"] == "O":
            opened.append(int(event["frame"]))
        elif not opened or opened.pop() != event["frame"]:
            raise ValueError("it closes a frame that is not the innermost open one")
