"""Conditions between a line and the loop that repeats it, as plain data."""

from __future__ import annotations

from rlint.enums import Enum
from rlint.findings import Heat
from rlint.frozen import frozen

OFTEN = 10
"""A line under an interval of fewer iterations than this is as hot as the loop."""
RARE_UPDATE = 50
"""A gradient step at an interval of fewer iterations than this is the purpose of the loop: it stays hot."""

MANY_PASSES = 10_000
"""A loop with this many iterations that runs, samples or steps something is assumed to iterate over steps."""
MOST_PASSES = 100_000
"""A loop with this many iterations is the hot part of a program, whatever it does."""
SHORT_ROLLOUT = 32
"""A gradient step after fewer environment steps than this is frequent."""


class GuardKind(Enum):
    """Kinds of conditions, by what makes them true."""

    INTERVAL = "in every Nth iteration"  # `step % n == 0`, `step - last >= n`, `step >= next_log`
    CLOCK = "at intervals of time"  # `time.time() - last > 5`
    RANK = "in one of several processes"  # `rank == 0`, `accelerator.is_main_process`
    SWITCH = "if a switch is on"  # `self.verbose`, `args.render`
    PRESENT = "only if it is not `None`"  # `writer is not None`
    CLASS = "only for values of a class"  # `isinstance(norm, torch.Tensor)`
    BEST = "when a result is the best so far"  # `score > best`
    ENDS = "when an episode ends"  # `done`, `"episode" in info`, a loop over the finished environments
    ONCE = "the first or the last time"  # `step == 0`, `self.env is None`
    FAILURE = "after an error"  # an `except` clause, a block that ends in `raise`
    OTHER = "under an unknown condition"


@frozen
class Guard:
    """A condition that a line depends on: one around it, or an earlier one with `continue` or `return`.

    `counter` is the source of the counter of an interval (`self.steps`), `period` its length if that is a
    constant. `loop` is the index of the innermost loop of the function around the condition, -1 for none.
    `cap` is the highest heat of a guarded line, relative to that loop. `decider` is the last name of what
    decides if the file alone does not determine it: of a switch, or of the length of an interval;
    `is_parameter` says that it is a parameter of the enclosing function, `is_own` that it is an attribute of
    `self`. `counts` is the index of the loop whose variable it compares, -1 for none: iterations are counted
    from the beginning of that loop. If it only holds at the beginning of a run, `begins` names the number of
    steps after which it no longer does (see beginnings.py).
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
    begins: str = ""

    @property
    def is_usual(self) -> bool:
        """Whether the condition holds in nearly every iteration that matters for a line of this heat."""
        if self.kind is GuardKind.INTERVAL:
            return self.period is not None and self.period < OFTEN
        return self.kind in _USUAL

    @property
    def may_cool(self) -> bool:
        """Whether guarded lines may be colder than the loop, by the condition itself or by its decider."""
        return self.cap is not Heat.HOT or bool(self.decider)


_USUAL = frozenset({GuardKind.ENDS, GuardKind.PRESENT, GuardKind.CLASS, GuardKind.RANK})


def inner_guards(guards: tuple[Guard, ...], loops: list[int]) -> tuple[Guard, ...]:
    """Return the guards that may cool a line in `loops` (innermost first), relative to the innermost loop:
    guards outside of it cool the whole loop instead.
    """
    if not guards:
        return ()
    outer = {-1, *loops[1:]} if loops else frozenset[int]()
    return tuple([guard for guard in guards if guard.may_cool and guard.loop not in outer])
