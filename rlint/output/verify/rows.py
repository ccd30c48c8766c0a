"""The rows that tables of all formats share: one per workload and device, at its typical size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlint.evidence.results import Ratio, Verdict
from rlint.output.verify import figures

if TYPE_CHECKING:
    from rlint.evidence.results import Behaviour, Measurement, RuleOutcome

BETTER = {
    "time": "faster",
    "mem": "less memory",
    "cpu": "less processor time",
    "sync": "fewer synchronisations",
    "alloc": "fewer allocations",
    "exp": "slower growth",
}
WORSE = {
    "time": "slower",
    "mem": "more memory",
    "cpu": "more processor time",
    "sync": "more synchronisations",
    "alloc": "more allocations",
    "exp": "steeper growth",
}
NOUNS = {
    "time": "time",
    "mem": "memory",
    "cpu": "processor time",
    "sync": "synchronisations",
    "alloc": "allocations",
    "exp": "growth",
}
_LABELS = {**NOUNS, "cpu": "cpu", "sync": "syncs"}  # short enough for columns
DEVICES = {"cpu": "CPU", "cuda": "CUDA", "mps": "MPS"}
"""Kinds of devices as displayed."""
NOTHING = "–"
"""Shown if there is no figure."""


@dataclass(frozen=True, slots=True)
class VerifyRow:
    """One line of a table, as text."""

    outcome: RuleOutcome
    size: str
    behaviour: str
    verdict: str
    gains: tuple[str, ...]
    """Ratios and counts, claimed ones first; all except time have a name."""
    growth: str
    memory: str


def row_of(outcome: RuleOutcome) -> VerifyRow:
    """Return an outcome as a row."""
    growth = outcome.measurement("exp")
    memory = outcome.measurement("mem")
    return VerifyRow(
        outcome,
        figures.size(outcome.typical, outcome.unit) if outcome.workload else NOTHING,
        behaviour_words(outcome.behaviour),
        verdict_words(outcome),
        gains_of(outcome),
        " → ".join(figures.exponents(growth)) if growth else NOTHING,
        figures.change(memory.before, memory.after, memory.unit) if memory else NOTHING,
    )


def verdict_words(outcome: RuleOutcome) -> str:
    """Return what the fix gained or lost: "faster, less memory"."""
    if outcome.failed:
        return "failed"
    words = {Verdict.FASTER: BETTER, Verdict.SLOWER: WORSE}.get(outcome.verdict)
    if words is None:
        return outcome.verdict.value
    found = [
        words[claim]
        for claim in outcome.claims
        if claim in words and (measured := outcome.measurement(claim)) and measured.verdict is outcome.verdict
    ]
    return ", ".join(found) or outcome.verdict.value


def measured_words(measurement: Measurement) -> str:
    """Return the verdict on one measurement, which is about its own claim."""
    words = {Verdict.FASTER: BETTER, Verdict.SLOWER: WORSE}.get(measurement.verdict, {})
    return words.get(measurement.claim, measurement.verdict.value)


def behaviour_words(behaviour: Behaviour | None) -> str:
    """Return whether the program behaves the same, and in how many cases that was compared."""
    if behaviour is None or (not behaviour.cases and not behaviour.differences):
        return "not compared"
    if behaviour.differences:
        return "different"
    cases = f"{behaviour.cases:,} case{'' if behaviour.cases == 1 else 's'}"
    return f"same in {cases}" if behaviour.enough else f"no difference in {cases}"


def has_more_information(behaviour: Behaviour | None) -> bool:
    """Whether the words on behaviour add to the verdict: that it is the same in this many cases."""
    return behaviour is not None and bool(behaviour.cases) and not behaviour.differences


def ratio_of(measured: Measurement) -> Ratio | None:
    """Return the ratio, also if a count became zero, or was zero, and no division is possible."""
    if measured.ratio is None and measured.claim != "exp" and measured.before != measured.after:
        value = 0.0 if measured.before == 0 else math.inf
        return Ratio(value, value, value)
    return measured.ratio


def gains_of(outcome: RuleOutcome) -> tuple[str, ...]:
    """Return the ratios at the typical size: claimed ones, and wall time wherever it was measured."""
    claimed = [claim for claim in outcome.claims if claim != "exp"]
    wanted = [*claimed, *(["time"] if "time" not in claimed else [])]
    found = [(claim, outcome.measurement(claim)) for claim in wanted]
    return tuple(
        gain_words(measured, named=claim != "time" or "time" not in claimed)
        for claim, measured in found
        if measured is not None
    )


def gain_words(measured: Measurement, *, named: bool) -> str:
    """Return "5.24× (5.1–5.4)", with the quantity's name before it if `named`; of counts "64 → 1"."""
    label = f"{_LABELS.get(measured.claim, measured.claim)} " if named else ""
    ratio = measured.ratio
    if ratio is None or measured.unit == "count" or not math.isfinite(ratio.value):
        return label + figures.change(measured.before, measured.after, measured.unit)
    return label + figures.ratio_text(ratio)
