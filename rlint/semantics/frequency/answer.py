"""How often a line runs: its heat, what it runs once for, and why."""

from __future__ import annotations

from rlint.enums import Enum
from rlint.findings import Heat
from rlint.frozen import frozen


class Granularity(Enum):
    """The event for which a line runs once."""

    STEP = "each step"  # of an environment or optimizer, each sample, token or message
    ITEM = "each item"  # of a data set that code goes through, not in a training as far as is known
    ROUND = "each round"  # an episode, an epoch, a batch of rollouts
    UPDATE = "each update"  # after so many steps, from which it learns
    INTERVAL = "each so many steps"
    ONCE = "once"  # or not known to run more often


GRANULARITIES = {Heat.COLD: Granularity.ONCE, Heat.WARM: Granularity.ROUND, Heat.HOT: Granularity.STEP}
"""The granularity of a line of which only the heat is known."""


@frozen
class Frequency:
    """How often a line runs, and the chain that explains it: outermost link first. If the code does not
    determine it, it rests on an `assumption`, a clause after "if": "`Trainer.fit` is called for each batch".
    """

    level: Heat
    chain: tuple[str, ...] = ()
    granularity: Granularity = Granularity.ONCE
    assumption: str = ""

    @property
    def runs_per_item(self) -> bool:
        """Whether it only is known to run for each item of a data set, outside of training."""
        return self.granularity is Granularity.ITEM

    @property
    def runs_at_intervals(self) -> bool:
        """Whether it runs at an interval of steps."""
        return self.granularity in (Granularity.UPDATE, Granularity.INTERVAL)


COLD = Frequency(Heat.COLD)
