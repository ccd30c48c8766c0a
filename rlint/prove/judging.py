"""Turn what replays gave into a verdict and figures."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

from rlint.evidence.results import Ratio, Verdict
from rlint.harness.measure.estimates import Resampled, Row, choose_processes, resample
from rlint.harness.measure.timing import Round
from rlint.harness.measure.verdicts import verdict_of_ratio
from rlint.harness.program import AFTER, BEFORE
from rlint.prove.proof import DIFFERENT, FASTER, NO_CHANGE, SLOWER
from rlint.prove.replay.replay_job import Replayed

_BEFORE, _CONTROL, _AFTER = range(3)
_LEAST_BYTES = 4096
WALL, PROCESSOR = "wall", "cpu"
_WORDS = {Verdict.FASTER: FASTER, Verdict.SLOWER: SLOWER, Verdict.NO_CHANGE: NO_CHANGE}


def times(rounds: Sequence[Round], clock: str = WALL) -> Resampled | None:
    """Put the times of all records together: one of each makes a row, as the run made them alike.

    On a machine that is busy with other things, the processor's time says more than that of the clock.
    """
    processes = []
    for process in sorted({one.process for one in rounds}):
        by_record: dict[int, list[Round]] = {}
        for one in rounds:
            if one.process == process:
                by_record.setdefault(one.size, []).append(one)
        count = min(map(len, by_record.values()))
        rows: list[Row] = [
            tuple(
                statistics.fmean(
                    getattr(getattr(of_record[index], arm), clock) for of_record in by_record.values()
                )
                for arm in ("before", "control", "after")
            )
            for index in range(count)
        ]
        if rows:
            processes.append(rows)
    if not processes:
        return None
    rng = random.Random(0)  # noqa: S311 - statistics
    return resample(processes, choices=choose_processes(len(processes), rng), rng=rng)


def ratios(found: Resampled) -> tuple[Ratio, Ratio]:
    """Return the gain, and what the instrument makes of nothing."""
    return found.ratio(_BEFORE, _AFTER), found.ratio(_BEFORE, _CONTROL)


def memory_ratio(replayed: Replayed) -> Ratio | None:
    """By how much less memory calls take; None where none was seen."""
    peaks = {
        name: [one.peak_device or one.peak_host for one in replayed.memory if one.arm == name]
        for name in (BEFORE, AFTER)
    }
    pairs = [(a, b) for a, b in zip(peaks[BEFORE], peaks[AFTER], strict=False) if min(a, b) > _LEAST_BYTES]
    if not pairs:
        return None
    found = [a / b for a, b in pairs]
    return Ratio(statistics.median(found), min(found), max(found))


def medians(found: Resampled) -> tuple[float, float]:
    """Seconds for a call, before and after."""
    return found.median(_BEFORE), found.median(_AFTER)


def verdict_of(replayed: Replayed, found: Resampled | None) -> str:
    """Give the verdict of what was compared and timed; "" where that says nothing."""
    if replayed.differences:
        return DIFFERENT
    if not replayed.cases or found is None:
        return ""
    return verdict_of_times(*ratios(found))


def verdict_of_times(ratio: Ratio, control: Ratio) -> str:
    """Give the verdict of a gain, in the light of what the instrument makes of nothing."""
    return _WORDS[verdict_of_ratio(ratio, control)]
