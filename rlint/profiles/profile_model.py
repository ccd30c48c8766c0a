"""The common model of profiles: frames, their times, and the time that a set of places covers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

_BUILTIN = (
    re.compile(r"<method '(\w+)' of "),
    re.compile(r"<(?:built-in|method-wrapper|slot wrapper) (?:method |function )?'?([\w.]+)"),
)
_NETWORK = "nn.Module: "


class Frame(NamedTuple):
    """A function, or a line of one, as the profile names it."""

    file: str
    """"" for code written in C."""
    name: str
    line: int
    """The first line of the function, or the line that ran; 0 if the profile does not contain it."""

    @property
    def last_name(self) -> str:
        """Return the last name of its calls: "append" for `<method 'append' of 'list' objects>`."""
        for pattern in _BUILTIN:
            if match := pattern.match(self.name):
                return match[1].rpartition(".")[2]
        if self.name.startswith(_NETWORK):
            return "_call_impl"  # the tracer's name for a call of a network
        if self.name.endswith(">"):
            return self.name[self.name.rfind("<") :]
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Claim:
    """Places of a program, as frames of a profile (their indices)."""

    whole: frozenset[int] = frozenset()
    """Frames that belong to the place including all callees."""
    inside: frozenset[int] = frozenset()
    """Functions that contain the place, if the profile does not distinguish their lines."""
    surely: frozenset[str] = frozenset()
    """The last names of callees of the place that no other line of those functions calls."""
    perhaps: frozenset[str] = frozenset()
    """The last names of possible callees of the place."""


def together(claims: Iterable[Claim], *, upper: bool) -> tuple[set[int], dict[int, set[str]]]:
    """Return the frames that claims contain as a whole; and those that contain claims, each with the last
    names of the claims' certain callees there (if `upper`, of all possible ones).
    """
    whole: set[int] = set()
    inside: dict[int, set[str]] = defaultdict(set)
    for claim in claims:
        whole |= claim.whole
        for frame in claim.inside:
            inside[frame] |= (claim.surely | claim.perhaps) if upper else claim.surely
    return whole, inside


class Profile(Protocol):
    """How long each part of a run took. All times are in `unit`."""

    @property
    def format(self) -> str:
        """Return the display name of its format: "cProfile", "py-spy (speedscope)" …"""

    @property
    def unit(self) -> str:
        """Return "s" for seconds, or "samples" if the sampling interval is not known."""

    @property
    def total(self) -> float:
        """Return the time of the whole run: the observed time of all threads together. Above 0."""

    @property
    def threads(self) -> int:
        """Return how many threads and processes were recorded."""

    @property
    def counts_calls(self) -> bool:
        """Every call was recorded: functions that are not in the profile never ran meanwhile."""

    @property
    def may_have_lines(self) -> bool:
        """Frames may name the line that ran, and not only the function."""

    @property
    def frames(self) -> Sequence[Frame]:
        """Return all frames, in no order."""

    def own(self, frame: int) -> float:
        """Return the time in a frame, without its callees."""

    def inclusive(self, frames: Iterable[int]) -> float:
        """Return the time in these frames of one function, with its callees."""

    def calls(self, frames: Iterable[int]) -> int | None:
        """Return how often these functions were called; None if calls are not counted."""

    def callees(self, frames: Iterable[int]) -> frozenset[str]:
        """Return the last names of the callees of these frames."""

    def covered(self, claims: Sequence[Claim], *, upper: bool) -> float:
        """Return the time in which any of the places was running, each moment counted once.

        If only functions are distinguished, this is a bound: from below, the calls that surely belong to the
        places; with `upper`, also those that may belong to them, and the functions' own time.
        """
