"""What calling something does besides returning a value. Unknown is an answer."""

from __future__ import annotations

from rlint.enums import IntFlag
from rlint.frozen import frozen


class EffectKind(IntFlag):
    """What a call does, as flags: a function has those of all that it runs. None at all is pure: the
    result depends on the arguments alone, and nothing changes that anyone can see.

    The order counts. Up to `READS` nothing changes; what is above `INDIRECT` is known to happen.
    """

    READS = 1 << 0
    """Reads state: attributes, globals, the memory of mutable arguments."""
    UNKNOWN = 1 << 1
    """May do anything: the source does not say. Treat it as an effect, but do not call it one."""
    INDIRECT = 1 << 2
    """Done by functions of the project, which may reach more than the arguments of the call."""

    PRINTS = 1 << 3
    LOGS = 1 << 4
    WARNS = 1 << 5
    READS_CLOCK = 1 << 6
    DRAWS = 1 << 7
    """Draws random numbers, which moves a random stream on."""
    SLEEPS = 1 << 8
    WAITS = 1 << 9
    """Waits for other threads, for other processes or for the device."""
    FILE_IO = 1 << 10
    NETWORK = 1 << 11
    COMMUNICATES = 1 << 12
    """Exchanges data with other processes of the training."""
    LOADS_MODEL = 1 << 13
    RENDERS = 1 << 14
    """Draws a frame of an environment."""
    ACCUMULATES_GRADIENTS = 1 << 15
    MOVES_MODULE = 1 << 16
    MUTATES = 1 << 17
    """Changes an object that others hold: its receiver, an argument, an attribute, a global."""
    CONSUMES = 1 << 18
    """Takes items from an iterator, which are gone then; if it is a generator, runs its code."""
    OTHER = 1 << 19
    """Anything else: a process is started, a stream seeded, a setting changed."""

    TELLS = PRINTS | LOGS
    """What only a person sees."""


_KNOWN = EffectKind.PRINTS  # the lowest flag of what is known to happen
_NO_MATTER = EffectKind.READS | EffectKind.INDIRECT


@frozen
class Effect:
    """What a call does, and the first of it in words for a person ("draws random numbers").

    `detail` is for people alone: what rlint does is decided by `kind`.
    """

    kind: EffectKind
    detail: str = ""

    @property
    def pure(self) -> bool:
        """True where the result depends on the arguments alone and nothing changes."""
        return not self.kind

    @property
    def quiet(self) -> bool:
        """True where nothing changes: the call may be dropped if its value is not needed."""
        return self.kind <= EffectKind.READS

    @property
    def acts(self) -> bool:
        """True where something is known to change, not only not known to stay."""
        return self.kind >= _KNOWN

    def does_only(self, kinds: EffectKind) -> bool:
        """Whether all that is done is of these kinds, reading aside. True also where nothing is done."""
        return not self.kind & ~_NO_MATTER & ~kinds

    def without(self, kinds: EffectKind) -> Effect:
        """Return the effect with these kinds left out."""
        if not self.kind & kinds:
            return self
        kind = EffectKind(self.kind & ~kinds)
        return Effect(kind, self.detail) if kind > EffectKind.READS else _QUIET[kind]

    def joined(self, other: Effect) -> Effect:
        """Return the effect of doing both."""
        kind = self.kind
        if not other.kind & ~kind:
            return self
        if not kind:
            return other
        worse = other if not self.detail or other.kind >= _KNOWN > kind else self
        return Effect(kind | other.kind, worse.detail)

    def through(self, name: str) -> Effect:
        """Return the effect of a function of the project, `name`, as its callers see it."""
        if self.kind < _KNOWN or self.kind & EffectKind.INDIRECT:
            return self
        return Effect(self.kind | EffectKind.INDIRECT, f"`{name}` {self.detail}")


PURE = Effect(EffectKind(0))
READS = Effect(EffectKind.READS)
UNKNOWN = Effect(EffectKind.UNKNOWN, "is not known to rlint")
USES_UP = Effect(EffectKind.CONSUMES, "uses up an iterator")
_QUIET = (PURE, READS)
