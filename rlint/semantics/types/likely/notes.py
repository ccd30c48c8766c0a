"""What an answer rests on besides the code that is plain to see, noted while it is looked for."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import NamedTuple, TypeVar

from rlint.models.value_type import MOST_ASSUMPTIONS, Caveat

_Key = TypeVar("_Key")
_Found = TypeVar("_Found")


class Noted(NamedTuple):
    """Whether a doubtful kind was looked at, whether a likelier answer exists than one that was given, and
    which assumptions the likely answers rest on that were given.
    """

    doubted: bool = False
    short: bool = False
    assumed: tuple[str, ...] = ()

    def joined(self, other: Noted) -> Noted:
        """Return the notes of two inferences."""
        if other is NOTHING or other == self:
            return self
        if self is NOTHING:
            return other
        assumed = tuple(dict.fromkeys((*self.assumed, *other.assumed)))[:MOST_ASSUMPTIONS]
        return Noted(self.doubted or other.doubted, self.short or other.short, assumed)


NOTHING = Noted()


class Notes:
    """Collects what is noted since `state` was last set to NOTHING. One for all layers over a file: what
    keeps an answer that rests on kinds keeps what was noted with it (`kept`), and notes it again each time.
    """

    __slots__ = ("state",)

    def __init__(self) -> None:
        self.state = NOTHING

    def add(self, caveat: Caveat | None) -> None:
        """Note what stands between a kind that is looked at and certainty."""
        if caveat is None:
            return
        state = self.state
        is_new = (caveat.doubtful and not state.doubted) or (caveat.short and not state.short)
        if is_new or (caveat.assumes and caveat.assumes != state.assumed):
            self.state = state.joined(Noted(caveat.doubtful, caveat.short, caveat.assumes))

    def doubt(self) -> None:
        """Note that what is looked at may become something else."""
        self.state = self.state.joined(Noted(doubted=True))

    def fall_short(self) -> None:
        """Note that a likelier answer exists than the one that is given."""
        self.state = self.state.joined(Noted(short=True))

    def kept(
        self, known: MutableMapping[_Key, tuple[_Found, Noted]], key: _Key, find: Callable[[], _Found]
    ) -> _Found:
        """Return an answer that is looked for once, and note each time what it rests on."""
        found = known.get(key)
        if found is None:
            around, self.state = self.state, NOTHING
            try:
                answer = find()
                found = known[key] = answer, self.state
            finally:
                self.state = around
        if found[1] is not NOTHING:
            self.state = self.state.joined(found[1])
        return found[0]
