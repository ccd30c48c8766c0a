"""A rule's evidence in one line: below its findings, and in tables of rules."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rlint.evidence.results import Measurement, Verdict
from rlint.output.verify import figures
from rlint.registry.recorded_gain import Gain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rlint.evidence.recorded import Evidence, Recording
    from rlint.evidence.results import RuleOutcome

GAINS = {
    "time": "as fast",
    "cpu": "less processor time",
    "mem": "less memory",
    "alloc": "fewer allocations",
    "sync": "fewer synchronisations",
}
"""The meaning of a ratio above 1, by claim."""
NAMES = {
    "time": "time",
    "cpu": "processor time",
    "mem": "memory",
    "alloc": "allocations",
    "sync": "synchronisations",
    "exp": "growth",
}
"""The measured quantity, by claim."""


def line(evidence: Evidence) -> str | None:
    """Return "2.1–83× as fast on cpu (4 workloads)", or why there is no such figure.

    None for a rule without a fixture, which cannot be measured.
    """
    if evidence.entry.fixtures is None:
        return None
    said = [_on_device(recording) for recording in evidence.recordings]
    known = [clause for clause in said if clause]
    if known:
        return "; ".join(known)
    if evidence.unreadable:
        return "unknown, since the evidence cannot be read (`rlint verify --check-evidence` says why)"
    return "not yet" + (
        f" on {' and '.join(evidence.only_on)}, where the cost arises" if evidence.only_on else ""
    )


def cell(evidence: Evidence) -> str:
    """Return only the main gain: "2.1–83× as fast", "no gain", or "–" if nothing was measured.

    The kind of device is named if it is not the CPU.
    """
    if evidence.gain is not Gain.SOME:
        return "no gain" if evidence.gain is Gain.NONE else "–"
    gaining = [recording for recording in evidence.recordings if recording.gain is Gain.SOME]
    said = next(_gains([one for recording in gaining for one in recording.claimed]), "gains")
    devices = [recording.device for recording in gaining]
    return said if "cpu" in devices else f"{said} on {' and '.join(devices)}"


def growth(measured: Measurement) -> str:
    """Return "n^1.98 → n^1.02": how the cost grows with the size, before and after."""
    before, after = figures.exponents(measured)
    return f"n^{before} → n^{after}"


def workloads(number: int) -> str:
    """Return "1 workload" or "4 workloads"."""
    return f"{number} workload" + ("s" if number != 1 else "")


def _on_device(recording: Recording) -> str | None:
    """Return the measurements on one device type; None if nothing is claimed there, or nothing ran."""
    claimed = recording.claimed
    different = sum(1 for found in recording.outcomes if found.verdict is Verdict.DIFFERENT)
    warning = f"its fix changes the behaviour of {workloads(different)}" if different else ""
    if not claimed:
        return f"{warning} on {recording.device}" if warning else None
    details = [workloads(len(claimed))]
    if recording.gain is Gain.SOME:
        said = ", ".join(_gains(claimed)) or "a gain"
        slower = sum(1 for found in claimed if found.verdict is Verdict.SLOWER)
        if slower:
            details.append(f"{slower} of them worse")
    else:
        said = "no gain"
        details[:0] = _ranges(claimed)
    if warning:
        details.append(warning)
    return f"{said} on {recording.device} ({', '.join(details)})"


def _gains(outcomes: Sequence[RuleOutcome]) -> Iterator[str]:
    """Yield what improved in some outcomes at typical sizes, with the gain of those that are not worse."""
    for claim, better in GAINS.items():
        found = _measured(outcomes, claim)
        if any(one.verdict is Verdict.FASTER for one in found):
            yield _gain([one for one in found if one.verdict is not Verdict.SLOWER], better, NAMES[claim])
    grown = [one for one in _measured(outcomes, "exp") if one.verdict is Verdict.FASTER]
    if grown:
        most = max(grown, key=lambda one: one.before - one.after)
        yield f"growth {growth(most)}"


def _gain(found: Sequence[Measurement], better: str, name: str) -> str:
    if any(_is_infinite(one) for one in found):  # none are left: counts can express that, a ratio cannot
        most = max(found, key=lambda one: one.before)
        return f"{figures.change(most.before, most.after, most.unit)} {name}"
    return f"{_range(found)} {better}"


def _ranges(outcomes: Sequence[RuleOutcome]) -> list[str]:
    """Return the ratios of everything that is claimed, whatever they are."""
    said = []
    for claim, name in NAMES.items():
        found = _measured(outcomes, claim)
        if claim == "exp":
            said += [f"growth {growth(found[0])}"] if found else []
        elif found:
            said.append(f"{name} {_range(found)}")
    return said


def _measured(outcomes: Iterable[RuleOutcome], claim: str) -> list[Measurement]:
    """Return the measurements of a claim at the typical sizes, of the outcomes that make it."""
    found = (one.measurement(claim) for one in outcomes if claim in one.claims)
    return [one for one in found if one is not None and (one.ratio is not None or claim == "exp")]


def _range(found: Sequence[Measurement]) -> str:
    """Return "2.1–83×", or "5.2×" if the smallest and the largest are equal."""
    ratios = sorted((one.ratio for one in found if one.ratio), key=lambda ratio: ratio.value)
    first, last = (figures.ratio_text(ratio).partition(" ")[0] for ratio in (ratios[0], ratios[-1]))
    return last if first == last else f"{first.rstrip('×')}–{last}"


def _is_infinite(measured: Measurement) -> bool:
    return measured.ratio is not None and math.isinf(measured.ratio.value)
