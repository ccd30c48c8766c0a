"""Whether a rule's fix was measured to gain anything, from the first line of its evidence files.

Every start of `rlint check` reads this for every rule, so no file is read as a whole.
"""

from __future__ import annotations

import enum
import functools
import importlib.util
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

DEVICES = ("cpu", "cuda", "mps")
"""The kinds of devices; the evidence of each is in a file of its own."""

_HEAD = re.compile(rb'\{\s*"gain": "([a-z ]+)"')
_HEAD_LENGTH = 64  # bytes


class Gain(enum.Enum):
    """The measured gain of a fix as a whole."""

    SOME = "gains"
    """Some workload was measured to be better in a claimed quantity."""
    NONE = "no gain"
    """It was measured where a gain is claimed, and every workload showed no change, or a loss."""
    UNKNOWN = "not measured"
    """It was measured nowhere, or only where nothing is claimed."""

    @staticmethod
    def over(gains: Iterable[Gain]) -> Gain:
        """Return the gain over several devices: a gain on one of them is a gain."""
        most = Gain.UNKNOWN
        for gain in gains:
            if gain is Gain.SOME:
                return gain
            most = Gain.NONE if gain is Gain.NONE else most
        return most


@functools.cache
def fixtures_folder() -> Path | None:
    """Return the folder of all fixtures, of the checkout or of the installed package; None if there is
    none.
    """
    spec = importlib.util.find_spec("rlint.fixtures")
    places = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(places))) if places else None


def evidence_file(fixtures: Path, name: str, device: str) -> Path:
    """Return the path of the evidence of the rule called `name`."""
    return fixtures / name / "evidence" / f"{device}.json"


def recorded_gain(name: str, fixtures: Path | None = None) -> Gain:
    """Return the gain in the headers of the evidence files of the rule called `name`; broken files are
    ignored.
    """
    place = fixtures or fixtures_folder()
    return _recorded_gain(place, name) if place else Gain.UNKNOWN


@functools.cache
def _recorded_gain(fixtures: Path, name: str) -> Gain:
    folder = os.path.join(fixtures, name, "evidence")
    return Gain.over(_head(os.path.join(folder, f"{device}.json")) for device in DEVICES)


def _head(path: str) -> Gain:
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            match = _HEAD.match(os.read(handle, _HEAD_LENGTH))
        finally:
            os.close(handle)
        return Gain(match[1].decode()) if match else Gain.UNKNOWN
    except (OSError, ValueError):
        return Gain.UNKNOWN
