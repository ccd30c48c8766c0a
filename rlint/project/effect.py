"""What calling something does besides returning a value. Unknown is an answer."""

from __future__ import annotations

from rlint.enums import IntEnum
from rlint.frozen import frozen


class Level(IntEnum):
    """How much a call does. Ordered: the effect of a whole is the maximum over its parts."""

    PURE = 0
    """Depends on its arguments alone and changes nothing that anyone can see."""
    READS = 1
    """Changes nothing, but reads state (attributes, globals, the memory of mutable arguments)."""
    UNKNOWN = 2
    """Nobody can say from the source; treat it as an effect, but do not call it one."""
    EFFECTS = 3
    """Changes something: an argument, an attribute, a random stream, a file, the clock's time."""


@frozen
class Effect:
    """A level and, above READS, the reason in words for a person ("draws random numbers")."""

    level: Level
    reason: str = ""

    @property
    def quiet(self) -> bool:
        """True where nothing changes: the call may be dropped if its value is not needed."""
        return self.level <= Level.READS

    def worst(self, other: Effect) -> Effect:
        """The effect of doing both."""
        return other if other.level > self.level else self


PURE = Effect(Level.PURE)
READS = Effect(Level.READS)
UNKNOWN = Effect(Level.UNKNOWN, "is not known to rlint")
