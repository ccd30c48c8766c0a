"""Conditions between a line and the loop that repeats it, as plain data."""

from __future__ import annotations

from rlint.enums import Enum
from rlint.findings import Heat
from rlint.frozen import frozen

OFTEN = 10
"""An interval of fewer passes than this is no pause: its lines are as hot as the loop."""
RARE_UPDATE = 50
"""A gradient step at an interval of fewer passes than this is what the loop is for: it stays hot."""

MANY_PASSES = 10_000
"""A loop that makes so many passes is one over steps, whatever takes them."""
SHORT_ROLLOUT = 32
"""A gradient step after fewer environment steps than this is taken often."""


class GuardKind(Enum):
    """What makes a condition come true."""

    INTERVAL = "in every Nth iteration"  # `step % n == 0`, `step - last >= n`, `step >= next_log`
    CLOCK = "at intervals of time"  # `time.time() - last > 5`
    RANK = "in one of several processes"  # `rank == 0`, `accelerator.is_main_process`
    SWITCH = "if a switch is on"  # `self.verbose`, `args.render`
    PRESENT = "only if it is not `None`"  # `writer is not None`
    CLASS = "only for values of a class"  # `isinstance(norm, torch.Tensor)`
    BEST = "when a result is the best so far"  # `score > best`
    ENDS = "when an episode ends"  # `done`, `"episode" in info`, a loop over those that finished
    ONCE = "the first or the last time"  # `step == 0`, `self.env is None`
    FAILURE = "after an error"  # an `except` clause, a block that ends in `raise`
    OTHER = "under an unknown condition"


@frozen
class Guard:
    """A condition that a line stands behind: around it, or in an early `continue` or `return`.

    `counter` is the text of what drives an interval (`self.steps`), `period` its length where it is a
    constant. `loop` is the index of the innermost loop of the function that holds the condition, -1 for none.
    `cap` is the hottest that a line behind it can be, compared with that loop. `decider` is the last name of
    what decides where the file alone does not say: of a switch, or of the length of an interval;
    `is_parameter` says that it is a parameter of the function around, `is_own` that it is an attribute of the
    object whose method that is. `counts` is the index of the loop of
    which it compares the variable, -1 for none: its passes are counted from the beginning of that loop.
    """

    kind: GuardKind
    text: str
    line: int
    loop: int = -1
    counter: str = ""
    period: int | None = None
    cap: Heat = Heat.HOT
    decider: str = ""
    is_parameter: bool = False
    counts: int = -1
    is_own: bool = False

    @property
    def is_usual(self) -> bool:
        """Whether the condition holds each time that matters for a line at this heat, or nearly so."""
        if self.kind is GuardKind.INTERVAL:
            return self.period is not None and self.period < OFTEN
        return self.kind in _USUAL

    @property
    def may_cool(self) -> bool:
        """Whether lines behind it may be colder than the loop, by itself or by what decides it."""
        return self.cap is not Heat.HOT or bool(self.decider)


_USUAL = frozenset({GuardKind.ENDS, GuardKind.PRESENT, GuardKind.CLASS, GuardKind.RANK})


def inner_guards(guards: tuple[Guard, ...], loops: list[int]) -> tuple[Guard, ...]:
    """Return the guards that may cool a line which stands in `loops` (innermost first), compared with the
    innermost of them: those outside of it cool the whole loop instead.
    """
    if not guards:
        return ()
    outer = {-1, *loops[1:]} if loops else frozenset[int]()
    return tuple([guard for guard in guards if guard.may_cool and guard.loop not in outer])
