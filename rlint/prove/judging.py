"""Derive a verdict and figures from the results of replays."""

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
    """Concatenate the times of all records: one of each forms a row, in the proportions of the run.

    On a busy machine, processor time is more reliable than wall time.
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
    """Return the speedup, and the noise of the method."""
    return found.ratio(_BEFORE, _AFTER), found.ratio(_BEFORE, _CONTROL)


def memory_ratio(replayed: Replayed) -> Ratio | None:
    """Return the ratio of memory per call; None if no memory was observed."""
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
    """Return the seconds of a call, before and after."""
    return found.median(_BEFORE), found.median(_AFTER)


def verdict_of(replayed: Replayed, found: Resampled | None) -> str:
    """Return the verdict from comparison and timing; "" if they are inconclusive."""
    if replayed.differences:
        return DIFFERENT
    if not replayed.cases or found is None:
        return ""
    return verdict_of_times(*ratios(found))


def verdict_of_times(ratio: Ratio, control: Ratio) -> str:
    """Return the verdict on a speedup, given the noise of the method."""
    return _WORDS[verdict_of_ratio(ratio, control)]
