"""Verdicts on measured costs: whether the fix gains, loses, or causes no change distinguishable from
noise.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from rlint.evidence.results import Behaviour, Measurement, Ratio, Verdict
from rlint.harness.measure.estimates import Resampled, choose_processes, growth, resample
from rlint.harness.measure.memory import MemoryUse
from rlint.harness.measure.synchronisations import HostWaits
from rlint.harness.measure.timing import Round
from rlint.harness.program import AFTER, BEFORE
from rlint.harness.workload import claims_on

SMALLEST = 0.03
"""The smallest share that counts as a change: 0.03 is 3 %."""
_LARGEST_FLOOR = 0.5
SMALLEST_EXPONENT = 0.1
"""The smallest change of growth that counts."""
_WIDE = 0.05  # the half width of an interval that more rounds should narrow
_LEAST_BYTES = 4096  # a smaller change of memory is meaningless
_LEAST_SIZES = 4
_FEW_ROUNDS = 10  # over all processes

_NAMES = {
    "time": "wall time",
    "cpu": "processor time",
    "mem": "peak memory",
    "alloc": "allocations",
    "sync": "synchronisations",
    "exp": "growth",
}
_BEFORE, _CONTROL, _AFTER = range(3)

_Observed = TypeVar("_Observed", MemoryUse, HostWaits)


def measurements(
    rounds: Iterable[Round],
    memory: Iterable[MemoryUse] = (),
    waits: Iterable[HostWaits] = (),
    *,
    claims: Sequence[str],
    device: str,
    seed: int = 0,
) -> tuple[Measurement, ...]:
    """Convert the results of the measuring processes to figures, each with its verdict.

    `claims` are those on this device. The rounds may come from several processes. Growth is fitted if at
    least four sizes were timed.
    """
    found = _times(list(rounds), claims, random.Random(seed))  # noqa: S311 - statistics
    uses = list(memory)
    on_device = device == "cuda" and any(use.peak_device for use in uses)
    found += _counts("mem", uses, (lambda u: u.peak_device or 0) if on_device else _host_peak, claims)
    found += _counts("alloc", uses, lambda use: use.allocations, claims)
    found += _counts("sync", list(waits), lambda one: one.traffic.waits, claims)
    return tuple(found)


def _host_peak(use: MemoryUse) -> int:
    return use.peak_host


# --- time, processor time, growth ---


def _times(rounds: Sequence[Round], claims: Sequence[str], rng: random.Random) -> list[Measurement]:
    sizes = sorted({one.size for one in rounds})
    everywhere = [
        process
        for process in sorted({one.process for one in rounds})
        if {one.size for one in rounds if one.process == process} == set(sizes)
    ]
    if not everywhere:
        return []
    choices = choose_processes(len(everywhere), rng)
    found = []
    for claim in ("time", "cpu"):
        points = {}
        for size in sizes:
            groups = [
                [_costs(one, claim) for one in rounds if (one.process, one.size) == (process, size)]
                for process in everywhere
            ]
            points[size] = resample(groups, choices=choices, rng=rng)
            found.append(_timed(claim, size, points[size], claim in claims, sum(map(len, groups))))
        if claim == "time" and len(sizes) >= _LEAST_SIZES:
            found += _grown(points, claimed="exp" in claims, samples=len(everywhere))
    return found


def _costs(one: Round, claim: str) -> tuple[float, float, float]:
    index = 0 if claim == "time" else 1
    return one.before[index], one.control[index], one.after[index]


def _timed(claim: str, size: int, point: Resampled, claimed: bool, samples: int) -> Measurement:  # noqa: FBT001
    ratio = point.ratio(_BEFORE, _AFTER)
    control = point.ratio(_BEFORE, _CONTROL)
    return Measurement(
        claim,
        size,
        point.median(_BEFORE),
        point.median(_AFTER),
        "s",
        ratio,
        verdict_of_ratio(ratio, control),
        claimed,
        control=control,
        samples=samples,
    )


def floor_of(control: Ratio | None) -> float:
    """Return the smallest change that counts, given the ratio of the program to itself."""
    shown = 0.0 if control is None else max(control.value, 1 / control.value) - 1
    return min(_LARGEST_FLOOR, max(SMALLEST, shown))


def verdict_of_ratio(ratio: Ratio, control: Ratio) -> Verdict:
    """Return a change only if the whole interval is beyond the floor and outside the control's interval.

    A difference that the method may show without any change is not a gain, however small its interval.
    """
    floor = floor_of(control)
    if ratio.low > max(1 + floor, control.high):
        return Verdict.FASTER
    return Verdict.SLOWER if ratio.high < min(1 / (1 + floor), control.low) else Verdict.NO_CHANGE


def _grown(points: dict[int, Resampled], *, claimed: bool, samples: int) -> list[Measurement]:
    found, itself = growth(points), growth(points, last=_CONTROL)
    if found is None or itself is None:
        return []
    gain, control = found.difference, itself.difference
    verdict = Verdict.NO_CHANGE
    if gain.low > max(SMALLEST_EXPONENT, control.high):
        verdict = Verdict.FASTER
    elif gain.high < min(-SMALLEST_EXPONENT, control.low):
        verdict = Verdict.SLOWER
    before, after = found.slopes[_BEFORE], found.slopes[_AFTER]
    return [
        Measurement(
            "exp", None, before, after, "exponent", None, verdict, claimed, difference=gain, samples=samples
        )
    ]


# --- what is counted ---


def _counts(
    claim: str, observed: Sequence[_Observed], count: Callable[[_Observed], int], claims: Sequence[str]
) -> list[Measurement]:
    found = []
    for size in sorted({one.size for one in observed}):
        before = [count(one) for one in observed if (one.size, one.arm) == (size, BEFORE)]
        after = [count(one) for one in observed if (one.size, one.arm) == (size, AFTER)]
        if not before or not after or (claim not in claims and not any(before + after)):
            continue
        unit, least = ("bytes", _LEAST_BYTES) if claim == "mem" else ("count", 0)
        found.append(
            Measurement(
                claim,
                size,
                float(statistics.median(before)),
                float(statistics.median(after)),
                unit,
                _ratio_of_counts(before, after),
                _of_counts(before, after, least),
                claim in claims,
                samples=min(len(before), len(after)),
            )
        )
    return found


def _ratio_of_counts(before: Sequence[int], after: Sequence[int]) -> Ratio | None:
    """Return the ratio of the medians, from the smallest to the largest that the runs allow; None next to a
    zero.
    """
    if min(before) <= 0 or min(after) <= 0:
        return None
    value = statistics.median(before) / statistics.median(after)
    return Ratio(value, min(before) / max(after), max(before) / min(after))


def _of_counts(before: Sequence[int], after: Sequence[int], least: int) -> Verdict:
    """Return better or worse if the runs of the two do not overlap, and differ by more than the smallest
    change that counts.
    """
    if min(before) > max(max(after) * (1 + SMALLEST), max(after) + least):
        return Verdict.FASTER
    if min(after) > max(max(before) * (1 + SMALLEST), max(before) + least):
        return Verdict.SLOWER
    return Verdict.NO_CHANGE


# --- the overall verdict ---


def undecided(found: Iterable[Measurement], *, typical: int) -> bool:
    """Whether more processes could change the verdict on a claim.

    True if the figure is beyond the smallest change but its interval is not, and if the interval is wide and
    reaches that far.
    """
    return any(_is_open(one) for one in found if one.claimed and one.size in (None, typical))


def _is_open(one: Measurement) -> bool:
    if one.verdict is not Verdict.NO_CHANGE:
        return False
    if one.difference is not None:
        least, gain = SMALLEST_EXPONENT, one.difference
        reaches = gain.high > least or gain.low < -least
        return abs(gain.value) > least or (reaches and gain.high - gain.low > 2 * least)
    if one.ratio is None or one.unit != "s":
        return False
    floor, ratio = floor_of(one.control), one.ratio
    if max(ratio.value, 1 / ratio.value) > 1 + floor:
        return True
    reaches = ratio.high > 1 + floor or ratio.low < 1 / (1 + floor)
    return reaches and (ratio.high - ratio.low) / 2 > _WIDE


def judge(
    behaviour: Behaviour | None,
    found: Sequence[Measurement],
    *,
    declared: Sequence[str],
    device: str,
    typical: int,
) -> tuple[Verdict, str | None]:
    """Return one verdict for a workload on a device, and notes for the reader.

    `declared` are all claims of the workload, those on other kinds of devices included. `behaviour` is None
    if it was not compared.
    """
    if behaviour is not None and behaviour.differences:
        return Verdict.DIFFERENT, str(behaviour.differences[0])
    if behaviour is not None and not behaviour.same:
        return Verdict.NOT_RUN, "no runs could be compared"
    if behaviour is not None and not behaviour.enough:
        return Verdict.NOT_ENOUGH, (
            f"{behaviour.fewest} of {behaviour.seeds} seeds were compared at some size when the time was up; "
            "run without `--quick`, or let the workload's `small_sizes` be smaller"
        )
    claims = claims_on(device, declared)
    if not declared:
        return Verdict.NOT_RUN, "no gain is claimed; only behaviour was compared"
    if not claims:
        return Verdict.NOT_RUN, f"claimed on {_listed(sorted({c.partition(':')[2] for c in declared}))} only"
    typical_results = [one for one in found if one.size in (None, typical)]
    missing = [_NAMES[claim] for claim in claims if claim not in {one.claim for one in typical_results}]
    if len(missing) == len(claims):
        return Verdict.NOT_RUN, f"{_listed(missing)} could not be measured"
    better = [one for one in typical_results if one.claimed and one.verdict is Verdict.FASTER]
    worse = [one for one in typical_results if one.claimed and one.verdict is Verdict.SLOWER]
    # If a fixed cost disappears, the exponent rises although all sizes gain: it counts only if it is claimed.
    others = [
        one
        for one in typical_results
        if one.verdict is Verdict.SLOWER and not one.claimed and one.unit != "exponent"
    ]
    notes = []
    if better and worse:
        notes.append(f"better: {_changes(better)}, but worse: {_changes(worse)}")
    elif others:
        notes.append(f"worse, though not claimed: {_changes(others)}")
    notes += _notes_on_sizes(found, typical)
    if missing:
        notes.append(f"{_listed(missing)} could not be measured")
    verdict = Verdict.SLOWER if worse else Verdict.FASTER if better else Verdict.NO_CHANGE
    return verdict, "; ".join(notes) or None


def _notes_on_sizes(found: Sequence[Measurement], typical: int) -> list[str]:
    notes = []
    small = [one for one in found if one.claimed and one.size not in (None, typical)]
    worse = [one for one in small if one.verdict is Verdict.SLOWER]
    if worse:
        notes.append("worse at " + _listed([f"size {one.size}: {_changes([one])}" for one in worse]))
    few = {one.size: one.samples for one in found if one.unit == "s" and one.samples < _FEW_ROUNDS}
    notes += [
        f"only {count} rounds at size {size}, where runs are long" for size, count in sorted(few.items())
    ]
    return notes


def _changes(found: Sequence[Measurement]) -> str:
    return _listed([f"{_NAMES[one.claim]} {_change(one)}" for one in found])


def _change(one: Measurement) -> str:
    """Return the text of a change: "+12%", "from 0 to 3", "from 1.02 to 1.98"."""
    if one.ratio is not None:
        return f"{one.after / one.before - 1:+.0%}"
    if one.unit == "exponent":
        return f"from {one.before:.2f} to {one.after:.2f}"
    return f"from {one.before:g} to {one.after:g}"


def _listed(words: Sequence[str]) -> str:
    if len(words) < 2:
        return "".join(words)
    return ", ".join(words[:-1]) + " and " + words[-1]
