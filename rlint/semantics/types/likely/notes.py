"""Dependencies of an answer beyond the visible code, recorded while it is computed."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import NamedTuple, TypeVar

from rlint.models.value_type import MOST_ASSUMPTIONS, Caveat

_Key = TypeVar("_Key")
_Found = TypeVar("_Found")


class Noted(NamedTuple):
    """Whether a doubtful type was used, whether a likelier answer exists than a given one, and the
    assumptions of the likely answers that were given.
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
    """Collects what is recorded since `state` was last set to NOTHING. One object for all analyses of a file:
    a cached answer that depends on types is cached with its notes (`kept`), which are recorded again on each
    use.
    """

    __slots__ = ("state",)

    def __init__(self) -> None:
        self.state = NOTHING

    def add(self, caveat: Caveat | None) -> None:
        """Record what makes a queried type less than certain."""
        if caveat is None:
            return
        state = self.state
        is_new = (caveat.doubtful and not state.doubted) or (caveat.short and not state.short)
        if is_new or (caveat.assumes and caveat.assumes != state.assumed):
            self.state = state.joined(Noted(caveat.doubtful, caveat.short, caveat.assumes))

    def doubt(self) -> None:
        """Record that a queried value may turn out to have another type."""
        self.state = self.state.joined(Noted(doubted=True))

    def fall_short(self) -> None:
        """Record that a likelier answer exists than the given one."""
        self.state = self.state.joined(Noted(short=True))

    def kept(
        self, known: MutableMapping[_Key, tuple[_Found, Noted]], key: _Key, find: Callable[[], _Found]
    ) -> _Found:
        """Return an answer that is computed once, and record its dependencies each time."""
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
