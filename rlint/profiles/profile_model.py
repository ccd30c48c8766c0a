"""What every profile is made of, whatever wrote it: frames, their times, and the time that a set of places
covers.
"""

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
    """"" for what is written in C."""
    name: str
    line: int
    """The first line of the function, or the line that ran; 0 where the profile does not say."""

    @property
    def last_name(self) -> str:
        """Return the name that a call of it ends in: "append" of `<method 'append' of 'list' objects>`."""
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
    """Places of a program, in terms of a profile's frames (their indices)."""

    whole: frozenset[int] = frozenset()
    """Frames that belong to the place with all that they call."""
    inside: frozenset[int] = frozenset()
    """Functions that hold the place, where the profile does not tell their lines apart."""
    surely: frozenset[str] = frozenset()
    """The last names of what the place calls, and no other line of those functions does."""
    perhaps: frozenset[str] = frozenset()
    """The last names of what the place may call."""


def together(claims: Iterable[Claim], *, upper: bool) -> tuple[set[int], dict[int, set[str]]]:
    """Return the frames that claims have whole; and those that they are inside of, each with the last
    names of what they surely call there (if `upper`, of all that they may call).
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
        """Seconds as "s", or "samples" where nothing tells how long one took."""

    @property
    def total(self) -> float:
        """Return the whole run: what all threads together were seen to spend. Above 0."""

    @property
    def threads(self) -> int:
        """Return how many threads and processes were recorded."""

    @property
    def counts_calls(self) -> bool:
        """Every call was seen: what is not in the profile never ran while it was recorded."""

    @property
    def may_have_lines(self) -> bool:
        """Frames may name the line that ran, and not only the function."""

    @property
    def frames(self) -> Sequence[Frame]:
        """Return all that was seen, in no order."""

    def own(self, frame: int) -> float:
        """Return the time in a frame, without what it calls."""

    def inclusive(self, frames: Iterable[int]) -> float:
        """Return the time in these frames of one function, with what it calls."""

    def calls(self, frames: Iterable[int]) -> int | None:
        """Return how often these functions were called; None where that is not counted."""

    def callees(self, frames: Iterable[int]) -> frozenset[str]:
        """Return the last names of what these frames call."""

    def covered(self, claims: Sequence[Claim], *, upper: bool) -> float:
        """Return the time in which any of the places was running, each moment counted once.

        Where only functions are told apart, this is a bound: from below, the calls that surely belong to
        the places; with `upper`, also what may belong to them, and the functions' own time.
        """
