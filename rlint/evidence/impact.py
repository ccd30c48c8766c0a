"""Impact of a finding: what its fix saves in each step, as a share of the cost of such a step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlint.evidence.occurrences import read_occurrences
from rlint.evidence.step_costs import step_costs
from rlint.findings import Finding, Heat, Impact, ImpactLevel, TrainingStep
from rlint.frozen import frozen
from rlint.registry.recorded_gain import Gain

if TYPE_CHECKING:
    from rlint.evidence.recorded import Evidence, Recording
    from rlint.evidence.results import RuleOutcome

HIGH, MEDIUM = 0.1, 0.01
"""Minimum share of a step for a high, or medium impact."""
STEPS_OF_A_ROUND = 100
"""Code that runs once per episode, epoch or batch of rollouts is compared with this many steps."""
TOKENS_OF_A_SEQUENCE = 100
"""Minimum number of tokens in a gradient or environment step of a language model."""
_LONG = f"{TOKENS_OF_A_SEQUENCE} tokens of a language model"
_MUCH_MEMORY = 1.5
"""Minimum ratio for less memory to count if no time is claimed."""
_SIZES_SHOWN = 2
_UNKNOWN_STEP = (TrainingStep.ENVIRONMENT, TrainingStep.GRADIENT)
"""The assumed step for code that is hot by its role, if no training loop is known."""


@frozen
class Saving:
    """Measured savings of a rule's fixes in each step, at their workloads' typical sizes."""

    device: str = ""
    seconds: tuple[float, ...] = ()
    """One for each workload that claims time; 0 if there was no gain."""
    sizes: tuple[tuple[int, str], ...] = ()
    """The typical sizes of these workloads: `(7056, "numbers")`."""
    memory: float = 1.0
    """The maximum factor by which less memory is needed."""
    only_on: tuple[str, ...] = ()
    """The only kinds of devices on which a gain is claimed, if it was not measured there."""


def saving_of(evidence: Evidence) -> Saving | None:
    """Return the measurements of a rule; None if there are none that an impact could be derived from."""
    measured = [one for one in evidence.recordings if one.gain is not Gain.UNKNOWN]
    if not measured:
        return Saving(only_on=evidence.only_on) if evidence.only_on else None
    recording = next((one for one in measured if one.gain is Gain.SOME), measured[0])
    place = evidence.entry.fixtures
    counted = read_occurrences(place, evidence.entry.name) if place is not None else None
    saved: list[float] = []
    sizes: list[tuple[int, str]] = []
    for outcome in recording.claimed:
        seconds = _seconds(outcome, counted.by_workload.get(outcome.workload, 0) if counted else 0)
        if seconds is not None:
            saved.append(seconds)
            sizes.append((outcome.typical, outcome.unit))
    return Saving(recording.device, tuple(saved), tuple(sizes), _memory(recording))


def _seconds(outcome: RuleOutcome, occurrences: int) -> float | None:
    """Return the seconds that are saved in one step; None if time is not claimed, or the steps are not
    known.
    """
    if not occurrences:
        return None
    for claim in ("time", "cpu"):
        measured = outcome.measurement(claim) if claim in outcome.claims else None
        if measured is not None:
            return max(0.0, measured.before - measured.after) / occurrences
    return None


def _memory(recording: Recording) -> float:
    found = (one.measurement("mem") for one in recording.claimed if "mem" in one.claims)
    return max((one.ratio.value for one in found if one is not None and one.ratio is not None), default=1.0)


def impact_of(finding: Finding, saving: Saving | None) -> Impact | None:
    """Return the impact of a finding; None if nothing is known of its rule."""
    if finding.minor:
        return Impact(ImpactLevel.LOW, finding.minor)
    if saving is None:
        return None
    only_on = saving.only_on or tuple(device for device in finding.only_on if device != saving.device)
    if only_on:
        where = " or ".join(_DEVICES.get(device, device) for device in only_on)
        basis = f"not measured on {where}, where the cost arises"
        if TrainingStep.TOKEN in finding.steps:
            # a transfer takes microseconds, the step of a language model milliseconds to seconds
            return Impact(ImpactLevel.LOW, f"{basis}, compared with the step of a language model")
        return Impact(ImpactLevel.UNKNOWN, basis)
    if not saving.seconds:
        if saving.memory >= _MUCH_MEMORY:
            return Impact(ImpactLevel.MEDIUM, f"{_factor(saving.memory)} less memory (on {saving.device})")
        return Impact(ImpactLevel.LOW, "little memory") if saving.memory > 1 else None
    costs = step_costs(saving.device)
    steps = [step for step in _with_work(finding.steps) or _UNKNOWN_STEP if step in costs]
    if not steps:
        return None
    saved = sum(saving.seconds) / len(saving.seconds)
    tokens = TOKENS_OF_A_SEQUENCE if len(steps) > 1 else 1
    small, large = (
        sum(costs[step][size] * (tokens if step is TrainingStep.TOKEN else 1) for step in steps)
        for size in (0, 1)
    )
    number = 1 if finding.heat is Heat.HOT else STEPS_OF_A_ROUND
    basis = _basis(saved, saving, (small, large), steps, number)
    if finding.heat is Heat.COLD:
        return Impact(ImpactLevel.LOW, f"{basis}; not known to run in a training loop")
    share = saved / (math.sqrt(small * large) * number)
    level = ImpactLevel.HIGH if share >= HIGH else ImpactLevel.MEDIUM if share >= MEDIUM else ImpactLevel.LOW
    return Impact(level, basis)


def _with_work(steps: tuple[TrainingStep, ...]) -> tuple[TrainingStep, ...]:
    """Add an environment step if only messages are exchanged: a message requests work."""
    return (TrainingStep.ENVIRONMENT, *steps) if steps == (TrainingStep.MESSAGE,) else steps


_DEVICES = {"cuda": "a GPU", "mps": "an Apple GPU"}


def _basis(
    saved: float, saving: Saving, cost: tuple[float, float], steps: Sequence[TrainingStep], number: int
) -> str:
    names = " with ".join(
        _LONG if step is TrainingStep.TOKEN and len(steps) > 1 else str(step.value) for step in steps
    )
    article = "an" if names[0] in "aeiou" else "a"
    often = "each time" if number == 1 else f"once per {number} steps"
    what = f"saves about {_duration(saved)} {often}{_at(saving.sizes)}" if saved else "no gain was measured"
    small, large = map(_duration, cost)
    return f"{what}; {article} {names} takes {small} to {large} (measured on {saving.device})"


def _at(sizes: Sequence[tuple[int, str]]) -> str:
    """Return the sizes that a saving was measured at; "" if there are too many to show."""
    distinct = sorted(set(sizes))
    if not 0 < len(distinct) <= _SIZES_SHOWN:
        return ""
    (size, unit), (last, last_unit) = distinct[0], distinct[-1]
    first = "" if len(distinct) == 1 else f"{size:,} or " if unit == last_unit else f"{size:,} {unit} or "
    return f" ({first}{last:,} {last_unit})"


def _duration(seconds: float) -> str:
    """Return seconds with two digits, in the most readable unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{_two_digits(seconds / size)} {unit}"
    return f"{_two_digits(seconds / 1e-9)} ns"


def _two_digits(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}".removesuffix(".0")


def _factor(ratio: float) -> str:
    return f"{_two_digits(ratio)} times" if math.isfinite(ratio) else "far"
