"""Effects of calls besides returning values. An effect may be unknown."""

from __future__ import annotations

from rlint.enums import IntFlag
from rlint.frozen import frozen


class EffectKind(IntFlag):
    """The effects of a call, as flags: a function has those of all code that it runs. No flag means pure: the
    result depends on the arguments only, and nothing observable changes.

    The order counts. Up to `READS` nothing changes; flags above `INDIRECT` are certain.
    """

    READS = 1 << 0
    """Reads state: attributes, globals, the memory of mutable arguments."""
    UNKNOWN = 1 << 1
    """May have any effect: the source does not determine it. Treat it as an effect, but do not describe it as
    one.
    """
    INDIRECT = 1 << 2
    """Caused by functions of the project, which may modify more than the arguments of the call."""

    PRINTS = 1 << 3
    LOGS = 1 << 4
    WARNS = 1 << 5
    READS_CLOCK = 1 << 6
    DRAWS = 1 << 7
    """Draws random numbers, which advances a random stream."""
    SLEEPS = 1 << 8
    WAITS = 1 << 9
    """Waits for other threads, for other processes or for the device."""
    FILE_IO = 1 << 10
    NETWORK = 1 << 11
    COMMUNICATES = 1 << 12
    """Exchanges data with other processes of the training."""
    LOADS_MODEL = 1 << 13
    RENDERS = 1 << 14
    """Renders a frame of an environment."""
    ACCUMULATES_GRADIENTS = 1 << 15
    MOVES_MODULE = 1 << 16
    MUTATES = 1 << 17
    """Modifies an object that other code holds: its receiver, an argument, an attribute, a global."""
    CONSUMES = 1 << 18
    """Consumes items of an iterator; if it is a generator, runs its code."""
    OTHER = 1 << 19
    """Any other effect: starting a process, seeding a stream, changing a setting."""

    WRITES_OUTPUT = PRINTS | LOGS
    """Output that is only for users."""


_KNOWN = EffectKind.PRINTS  # the lowest flag of the certain effects
_NO_MATTER = EffectKind.READS | EffectKind.INDIRECT


@frozen
class Effect:
    """The effects of a call, and the first of them in words for messages ("draws random numbers").

    `detail` is only for messages: decisions are based on `kind`.
    """

    kind: EffectKind
    detail: str = ""

    @property
    def pure(self) -> bool:
        """True if the result depends on the arguments only and nothing changes."""
        return not self.kind

    @property
    def quiet(self) -> bool:
        """True if nothing changes: the call may be removed if its value is not needed."""
        return self.kind <= EffectKind.READS

    @property
    def acts(self) -> bool:
        """True if an effect is certain, not only possible."""
        return self.kind >= _KNOWN

    def does_only(self, kinds: EffectKind) -> bool:
        """Whether all effects are of these kinds, except reading. True also if there are no effects."""
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
        """Return the effect of a function of the project, `name`, as its callers observe it."""
        if self.kind < _KNOWN or self.kind & EffectKind.INDIRECT:
            return self
        return Effect(self.kind | EffectKind.INDIRECT, f"`{name}` {self.detail}")


PURE = Effect(EffectKind(0))
READS = Effect(EffectKind.READS)
UNKNOWN = Effect(EffectKind.UNKNOWN, "is not known to rlint")
USES_UP = Effect(EffectKind.CONSUMES, "uses up an iterator")
_QUIET = (PURE, READS)
