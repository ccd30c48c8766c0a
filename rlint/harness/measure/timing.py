"""Time a program before and after its fix, side by side in one process.

A process yields rounds. In each round every arm runs one batch: the unchanged program, the same program
loaded a second time (which measures the noise of the method), and the fixed one, in an order that changes
from round to round. All sizes take turns, so that a slowdown of the machine affects all of them.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rlint.harness.machine_devices import set_threads
from rlint.harness.measure.timed_batches import ArmAtSize, settle_memory
from rlint.harness.program import AFTER, BEFORE, Subject, load
from rlint.harness.workload import Case

CONTROL = "control"
"""The arm that is the unchanged program loaded a second time."""
ARMS = (BEFORE, CONTROL, AFTER)
_TURNS = (ARMS, ARMS[1:] + ARMS[:1], ARMS[2:] + ARMS[:2])
ORDERS = (*_TURNS, *(order[::-1] for order in _TURNS))
"""All six orders of the arms. In the first three each arm is first, second and last once, so that few rounds
are fair.
"""

MOST_ROUNDS = 60
LEAST_ROUNDS = 9
LEAST_OF_LONG = 6
"""Number of rounds if one run with its preparation takes more than a tenth of the budget."""
LEAST_OF_VERY_LONG = 3
"""Rounds if it takes more than a quarter."""


class Cost(NamedTuple):
    """Seconds for one run, as the mean over a batch."""

    wall: float
    cpu: float
    """Of all threads, and of child processes that ended meanwhile."""


@dataclass(frozen=True, slots=True)
class Round:
    """One batch of each arm, run one after the other at one size."""

    process: int
    """The number of the process among those of the workload."""
    size: int
    before: Cost
    control: Cost
    after: Cost


def measure(
    subject: Subject,
    workload: str,
    device: str,
    *,
    sizes: Sequence[int],
    budget: float,
    seed: int,
    round: int,  # noqa: A002 - the word of the caller
) -> Iterator[Round]:
    """Time a workload at all `sizes` for about `budget` seconds, including warm-up, but not loading.

    `round` is the number of this process among those of the workload: another one gets another order.
    Exceptions of the workload are raised. Sizes whose runs are long get few rounds, in spite of the budget:
    never fewer than LEAST_OF_VERY_LONG.
    """
    loaded = {}
    for name in ORDERS[round % len(ORDERS)]:  # the order of loading affects memory addresses
        loaded[name] = load(subject, BEFORE if name == CONTROL else name)
    set_threads(loaded[BEFORE].workloads[workload].threads)
    started = time.perf_counter()  # loading does not count against the budget
    points: dict[int, dict[str, ArmAtSize]] = {}
    settle_memory()
    for number, size in enumerate(sizes, start=round):
        case = Case(seed, size, device)
        order = ORDERS[number % len(ORDERS)]
        points[size] = {name: ArmAtSize(loaded[name], workload, case) for name in order}
    settle_memory()
    try:
        yield from measure_arms(points, budget, round, started)
    finally:
        gc.unfreeze()


def measure_arms(
    points: Mapping[int, Mapping[str, ArmAtSize]], budget: float, process: int, started: float | None = None
) -> Iterator[Round]:
    """Warm up and time loaded arms, at each of their sizes, for about `budget` seconds."""
    started = time.perf_counter() if started is None else started
    for arms in points.values():
        _make_ready(arms, budget / len(points))
    settle_memory()
    yield from _rounds(points, budget, started, process)


def _make_ready(arms: Mapping[str, ArmAtSize], share: float) -> None:
    """Warm up, and determine the number of runs in a batch; `share` are the seconds for this size."""
    changing = [arm.first_run() for arm in arms.values()]
    for arm in arms.values():
        arm.runs_change_inputs = any(changing)  # all arms are treated alike
        arm.warm_up(share / 10 / len(arms))


def _rounds(
    points: Mapping[int, Mapping[str, ArmAtSize]], budget: float, started: float, process: int
) -> Iterator[Round]:
    least = {size: _least_rounds(arms, budget) for size, arms in points.items()}
    took = dict.fromkeys(points, 0.0)
    for number in range(MOST_ROUNDS):
        order = ORDERS[(process + number) % len(ORDERS)]
        for size, arms in points.items():
            now = time.perf_counter()
            if number >= least[size] and now + took[size] > started + budget:
                continue
            costs = {name: Cost(*arms[name].batch()) for name in order}
            took[size] = time.perf_counter() - now
            yield Round(process, size, **costs)


def _least_rounds(arms: Mapping[str, ArmAtSize], budget: float) -> int:
    longest = max(arm.turn for arm in arms.values())
    if longest > budget / 4:
        return LEAST_OF_VERY_LONG
    return LEAST_OF_LONG if longest > budget / 10 else LEAST_ROUNDS
