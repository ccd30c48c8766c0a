"""Stand-ins for text that is not Python: each contains one token that occurs nowhere else in the notebook."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from rlint.frozen import frozen

_FIRST, _LAST = 0x16A0, 0x16EA
"""Runes: letters in Python, so that a name can begin with one, and used in no program."""


class TornError(Exception):
    """A changed text from which the notebook cannot be restored."""


@frozen
class Mask:
    """The replaced parts of a text. `at` is where its token begins in `presented`."""

    presented: str
    original: str
    at: int


@dataclass
class Masks:
    """The stand-ins of a notebook. `marker` begins their tokens, and the names of the lines between cells."""

    marker: str
    found: list[Mask] = field(default_factory=list)

    def add(self, original: str, before: str = "", after: str = "", digits: int = 1) -> str:
        """Return a stand-in for `original`: a name between `before` and `after`."""
        token = f"{self.marker}{len(self.found):0{digits}}"
        self.found.append(Mask(before + token + after, original, len(before)))
        return self.found[-1].presented

    @cached_property
    def _token(self) -> re.Pattern[str]:
        return re.compile(rf"{self.marker}(\d+)")

    def places(self, text: str) -> list[tuple[int, int, int]]:
        """Return start, end and number of each stand-in in a text. Raises TornError for a damaged one."""
        found = []
        for match in self._token.finditer(text):
            number = int(match[1])
            if number >= len(self.found):
                raise TornError(f"there is no placeholder {number}")
            mask = self.found[number]
            start = match.start() - mask.at
            if start < 0 or not text.startswith(mask.presented, start):
                raise TornError(f"the stand-in for {mask.original!r} is damaged")
            found.append((start, start + len(mask.presented), number))
        return found

    def restored(self, text: str) -> str:
        """Return the text with the originals in place of stand-ins."""
        parts: list[str] = []
        done = 0
        for start, end, number in self.places(text):
            parts += (text[done:start], self.found[number].original)
            done = end
        return "".join([*parts, text[done:]])


def free_marker(texts: Iterable[str]) -> str:
    """Return a letter that is in none of the texts."""
    used = set().union(*map(set, texts))
    return next(chr(code) for code in range(_FIRST, _LAST + 1) if chr(code) not in used)
