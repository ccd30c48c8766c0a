"""Impact of a finding: what its fix saves in each step, as a share of the cost of such a step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rlint.evidence.occurrences import read_occurrences
from rlint.evidence.step_costs import step_costs
from rlint.findings import Finding, Heat, Impact, ImpactLevel, ProgramScale, TrainingStep
from rlint.frozen import frozen
from rlint.regex import regex
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
_ITEMS = "items"
"""What a place is said to process if it is not about what its workloads count."""
_WORDS = regex(r"[a-z]+")
_NOUNS = regex(r"[a-z]{4,}")
_NO_NOUNS = frozenset("hidden each layer that takes with batch steps".split())
"""Words of units that are no names of what is counted, or are said of nearly all places."""
_ENDS = 2
"""The number of measurements that a line goes through."""
_STEEPEST = 2.0
"""The maximum growth with the size: quadratic, as of a list that is copied at each insertion."""
_TIMES = ("time", "cpu")
"""Claims of time, in the order of preference."""
_STEPS = "steps"
"""The unit of workloads whose size is the number of steps that were collected."""
_SIZES = {
    ProgramScale.SMALL: (0, 1),
    ProgramScale.SIMULATED: (0, 1),
    ProgramScale.SLOW: (1, 2),
    ProgramScale.MIXED: (0, 2),
    ProgramScale.LARGE: (1, 2),
}
"""The smallest and the largest of the measured steps that the steps of a program resemble."""
_WITHOUT_IMAGES = frozenset({ProgramScale.SMALL, ProgramScale.SIMULATED, ProgramScale.SLOW})
"""Programs in which no network for images is known."""
_SIZES_OF_ENVIRONMENTS = {**_SIZES, ProgramScale.SIMULATED: (1, 2), ProgramScale.MIXED: (1, 2)}
"""Few environments are as fast as a pendulum: only programs known to be small are compared with one."""
LEARNING_PER_ENVIRONMENT_STEP = 1 / 3
"""Gradient steps for each environment step where another loop learns from the collected data: between PPO
with its usual settings (10 passes over 32 minibatches of 2,048 steps, which is 0.16) and off-policy
algorithms, which usually take one for each."""
COLLECTED_PER_GRADIENT_STEP = 1
"""Environment steps for each gradient step that learns from them: as in most off-policy algorithms; PPO takes
six with its usual settings."""
FEWEST_STEPS_APART = 2
"""Environment steps between two updates from which on all of them count, not a share."""
_SLOWER = 4
"""A long environment step of a slow simulator takes so many times its shortest."""
_FEW_RUNS = 2
"""As many transfers in a step are nothing beside a step of a slow simulator."""
MANY_TRANSFERS = 7
"""Fewer transfers in a step rarely are a part of it that matters: of 22 findings of fewer, in repositories
that were new to rlint, reviewers called two worth saying.
"""
_FRAMES = ("frame", "image", "pixel", "screen")
"""Words in the names and units of workloads that process images."""
_ROWS = "transitions"
"""The unit of workloads whose size is a number of collected steps if a whole rollout is processed at once."""
_COLLECTING = frozenset({TrainingStep.ENVIRONMENT, TrainingStep.MESSAGE})
_UNKNOWN_STEP = (TrainingStep.ENVIRONMENT, TrainingStep.GRADIENT)
"""The assumed step for code that is hot by its role, if no training loop is known."""


@frozen
class WorkloadSaving:
    """The measured saving of a rule's fixes in one step of a workload, at its typical size."""

    workload: str
    seconds: float
    """0 if there was no gain."""
    size: int = 0
    unit: str = ""
    """What the size counts: "numbers"."""
    steps: int = 1
    """The number of environment steps whose data one run of the place processes."""
    at_sizes: tuple[tuple[int, float], ...] = ()
    """The seconds at each of the measured sizes, smallest size first."""

    def at(self, size: int) -> WorkloadSaving:
        """Return the saving at another size, on the line between the nearest two in logarithmic scales."""
        curve = [(one, seconds) for one, seconds in self.at_sizes if seconds > 0]
        if size <= 0 or len(curve) < _ENDS:
            return self
        after = next((number for number, (one, _) in enumerate(curve) if one >= size), len(curve) - 1)
        (small, least), (large, most) = curve[max(0, after - 1) : after + 1] if after else curve[:2]
        growth = min(max(math.log(most / least) / math.log(large / small), 0.0), _STEEPEST)
        seconds = least * (size / small) ** growth
        steps = max(1, round(self.steps * size / self.size)) if self.steps > 1 and self.size else self.steps
        return replace(self, seconds=seconds, size=size, steps=steps)


@frozen
class Saving:
    """Measured savings of a rule's fixes."""

    device: str = ""
    workloads: tuple[WorkloadSaving, ...] = ()
    """Those of the workloads that claim time."""
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
    saved: list[WorkloadSaving] = []
    for outcome in recording.claimed:
        occurrences = counted.by_workload.get(outcome.workload, 0) if counted else 0
        seconds = _seconds(outcome, occurrences)
        if seconds is not None:
            steps = max(1, outcome.typical // occurrences) if outcome.unit == _STEPS else 1
            curve = _at_sizes(outcome, occurrences)
            saved.append(
                WorkloadSaving(outcome.workload, seconds, outcome.typical, outcome.unit, steps, curve)
            )
    return Saving(recording.device, tuple(saved), _memory(recording))


def _seconds(outcome: RuleOutcome, occurrences: int) -> float | None:
    """Return the seconds that are saved in one step; None if time is not claimed, or the steps are not
    known.
    """
    if not occurrences:
        return None
    for claim in _TIMES:
        measured = outcome.measurement(claim) if claim in outcome.claims else None
        if measured is not None:
            return max(0.0, measured.before - measured.after) / occurrences
    return None


def _at_sizes(outcome: RuleOutcome, occurrences: int) -> tuple[tuple[int, float], ...]:
    """Return the seconds that are saved in one step at each size. A workload whose size is the number of its
    steps performs more of them at larger sizes.
    """
    claim = next((claim for claim in _TIMES if claim in outcome.claims), "")
    saved = {
        one.size: max(0.0, one.before - one.after)
        for one in outcome.measurements
        if one.claim == claim and one.size
    }
    by_steps = occurrences > 1 and outcome.typical > 0 and occurrences % outcome.typical == 0

    def number_at(size: int) -> float:
        return max(1.0, occurrences * size / outcome.typical) if by_steps else float(occurrences)

    return tuple((size, saved[size] / number_at(size)) for size in sorted(saved))


def _memory(recording: Recording) -> float:
    found = (one.measurement("mem") for one in recording.claimed if "mem" in one.claims)
    return max((one.ratio.value for one in found if one is not None and one.ratio is not None), default=1.0)


def impact_of(finding: Finding, saving: Saving | None) -> Impact | None:
    """Return the impact of a finding; None if nothing is known of its rule."""
    if finding.minor:
        return Impact(ImpactLevel.LOW, finding.minor)
    if finding.stated is not None:
        return finding.stated
    if saving is None:
        return None
    only_on = saving.only_on or tuple(device for device in finding.only_on if device != saving.device)
    if only_on:
        where = " or ".join(_DEVICES.get(device, device) for device in only_on)
        basis = f"not measured on {where}, where the cost arises"
        # a transfer takes microseconds, the step of a language model milliseconds to seconds
        if TrainingStep.TOKEN in finding.steps:
            return Impact(ImpactLevel.LOW, f"{basis}, compared with the step of a language model")
        if finding.nested_steps:
            steps = " and ".join(f"{step.value}s" for step in finding.nested_steps)
            return Impact(ImpactLevel.LOW, f"{basis}, compared with many {steps}")
        if finding.heat is Heat.WARM:
            return Impact(ImpactLevel.LOW, f"{basis}, and it runs only once per round of steps")
        waits = finding.waits_for_simulator and TrainingStep.ENVIRONMENT in finding.steps
        if waits and 0 < finding.runs <= _FEW_RUNS:
            return Impact(ImpactLevel.LOW, f"{basis}, compared with a step of a simulator")
        if finding.transfers is not None and finding.transfers * max(1, finding.runs) < MANY_TRANSFERS:
            return Impact(ImpactLevel.LOW, f"{basis}; a few in each step rarely matter")
        return Impact(ImpactLevel.UNKNOWN, basis)
    measured = _measured(finding, saving)
    if not measured:
        if saving.memory >= _MUCH_MEMORY:
            return Impact(ImpactLevel.MEDIUM, f"{_factor(saving.memory)} less memory (on {saving.device})")
        return Impact(ImpactLevel.LOW, "little memory") if saving.memory > 1 else None
    cost = _cost(finding, step_costs(saving.device), _rollout(finding, measured))
    if cost is None:
        return None
    each = finding.heat is Heat.HOT or finding.throughout
    number = 1 if each or cost.is_round else STEPS_OF_A_ROUND
    basis = _basis(measured, cost, number, saving.device, finding)
    if finding.heat is Heat.COLD and not finding.throughout:
        return Impact(ImpactLevel.LOW, f"{basis}; not known to run in a training loop")
    share = max(1, finding.runs) * _usual(measured) / (math.sqrt(cost.small * cost.large) * number)
    level = ImpactLevel.HIGH if share >= HIGH else ImpactLevel.MEDIUM if share >= MEDIUM else ImpactLevel.LOW
    return Impact(level, basis)


@frozen
class _Cost:
    """The seconds of one iteration of a training loop."""

    steps: tuple[tuple[TrainingStep, int], ...]
    """Its steps, and how often it performs each."""
    small: float
    large: float
    learns_later: bool = False
    """Whether the seconds include the share of a gradient step that follows from each environment step."""
    collects_first: bool = False
    """Whether the seconds include the environment steps that each gradient step learns from."""

    @property
    def is_round(self) -> bool:
        """Whether an iteration performs steps many times: a whole rollout, or a number of updates."""
        return any(number > 1 for step, number in self.steps if step is not TrainingStep.TOKEN)


def _cost(
    finding: Finding, costs: Mapping[TrainingStep, tuple[float, float, float]], rollout: int
) -> _Cost | None:
    """Return the cost of an iteration around a finding, None if it was not measured. A place that processes
    the data of a whole `rollout` runs once for so many environment steps.
    """
    steps = finding.steps
    if not steps and not finding.nested_steps:
        steps = _UNKNOWN_STEP
    numbers = dict.fromkeys(steps, 1) | dict.fromkeys(finding.nested_steps, STEPS_OF_A_ROUND)
    if set(numbers) == {TrainingStep.MESSAGE}:
        numbers[TrainingStep.ENVIRONMENT] = 1  # a message requests work
    if rollout > 1 and TrainingStep.TOKEN not in numbers:
        numbers[TrainingStep.ENVIRONMENT] = max(rollout, numbers.get(TrainingStep.ENVIRONMENT, 1))
    if TrainingStep.TOKEN in numbers and len(numbers) > 1:
        numbers[TrainingStep.TOKEN] = TOKENS_OF_A_SEQUENCE
    order = sorted(numbers, key=str)
    if _is_seldom(finding, numbers):
        numbers = {TrainingStep.GRADIENT: 1, TrainingStep.ENVIRONMENT: finding.environment_steps}
        order = list(numbers)
    known = tuple((step, numbers[step]) for step in order if step in costs)
    if not known:
        return None
    small = large = 0.0
    learns_later = set(numbers) <= _COLLECTING and TrainingStep.GRADIENT in costs
    counts: dict[TrainingStep, float] = dict(known)
    if learns_later:
        share = 1 if finding.replayed_updates else LEARNING_PER_ENVIRONMENT_STEP
        counts[TrainingStep.GRADIENT] = numbers[TrainingStep.ENVIRONMENT] * share
    collects_first = numbers == {TrainingStep.GRADIENT: 1} and finding.collects
    if collects_first and TrainingStep.ENVIRONMENT in costs:
        counts[TrainingStep.ENVIRONMENT] = COLLECTED_PER_GRADIENT_STEP
    # language models are large, wherever their layers are defined
    scale = ProgramScale.LARGE if TrainingStep.TOKEN in numbers else finding.scale
    for step, count in counts.items():
        least, most = _seconds_of(step, costs[step], scale, finding)
        small += least * count
        large += most * count
    return _Cost(known, small, large, learns_later=learns_later, collects_first=collects_first)


def _is_seldom(finding: Finding, numbers: Mapping[TrainingStep, int]) -> bool:
    """Whether a place runs in an update that is known to come only after several environment steps, given
    how often the iteration around it performs each step.
    """
    if finding.environment_steps < FEWEST_STEPS_APART or finding.throughout:
        return False
    return numbers.keys() <= set(_UNKNOWN_STEP) and set(numbers.values()) == {1}


def _seconds_of(
    step: TrainingStep, costs: tuple[float, float, float], scale: ProgramScale, finding: Finding
) -> tuple[float, float]:
    """Return the seconds of a short and a long step of a kind in the program of a finding. The measured
    gradient steps update one network; a large one takes as long as several small ones.
    """
    least, most = (_SIZES_OF_ENVIRONMENTS if step is TrainingStep.ENVIRONMENT else _SIZES)[scale]
    small, large = costs[least], costs[most]
    if step is TrainingStep.ENVIRONMENT and finding.waits_for_simulator:
        small = max(small, finding.waits_for_simulator)
        large = max(large, _SLOWER * finding.waits_for_simulator)
    if step is TrainingStep.GRADIENT:
        small *= max(1, finding.updates, finding.replayed_updates)
    return small, max(small, large)


def _measured(finding: Finding, saving: Saving) -> tuple[WorkloadSaving, ...]:
    """Return the measurements that apply to a finding: of the workload that it names, else of all, but none
    of images in programs without networks for images if there are others; at its size, if that is known.
    """
    measured = saving.workloads
    if finding.workload is not None:
        measured = tuple(one for one in measured if one.workload == finding.workload)
    elif finding.scale in _WITHOUT_IMAGES:
        measured = tuple(one for one in measured if not _is_of_images(one)) or measured
    return measured if finding.size is None else tuple(one.at(finding.size) for one in measured)


def _is_of_images(one: WorkloadSaving) -> bool:
    return any(word in f"{one.workload} {one.unit}" for word in _FRAMES)


def _rollout(finding: Finding, measured: Sequence[WorkloadSaving]) -> int:
    """Return the number of environment steps whose data one run of a place processes."""
    steps = max(one.steps for one in measured)
    if finding.heat is not Heat.WARM and not finding.nested_steps:
        return steps
    rows = [one.size for one in measured if one.unit == _ROWS]
    return max([steps, STEPS_OF_A_ROUND, *rows]) if rows else steps


def _usual(measured: Sequence[WorkloadSaving]) -> float:
    """Return the geometric mean of the seconds saved, as they differ by orders of magnitude and it is unknown
    which workload the place resembles. 0 if most workloads gain nothing.
    """
    gains = [one.seconds for one in measured if one.seconds > 0]
    if 2 * len(gains) < len(measured):
        return 0.0
    return math.exp(sum(map(math.log, gains)) / len(gains))


_DEVICES = {"cuda": "a GPU", "mps": "an Apple GPU"}


def _basis(
    measured: Sequence[WorkloadSaving], cost: _Cost, number: int, device: str, finding: Finding
) -> str:
    names = [_name(step, number, finding, alone=len(cost.steps) == 1) for step, number in cost.steps]
    several = names[0][0].isdigit()
    article = "" if several else "an " if names[0][0] in "aeiou" else "a "
    often = "each time" if number == 1 else f"once per {number:,} steps"
    often = f"{finding.runs} times" if number == 1 and finding.runs > 1 else often
    saved = _saved(measured)
    what = f"saves {saved} {often}{_at(measured, finding)}" if saved else "no gain was measured"
    takes = "take" if several else "takes"
    learning = ", with its share of learning," if cost.learns_later else ""
    learning = ", with a share of collecting," if cost.collects_first else learning
    steps = f"{article}{' with '.join(names)}{learning}"
    spent = f"{_duration(cost.small)} to {_duration(cost.large)}"
    return f"{what}; {steps} {takes} {spent} (measured on {device})"


def _name(step: TrainingStep, number: int, finding: Finding, *, alone: bool) -> str:
    if step is TrainingStep.TOKEN and not alone:
        return _LONG
    name = f"{number:,} {step.value}s" if number > 1 else str(step.value)
    if step is TrainingStep.GRADIENT and finding.updates > 1:
        return f"{name} of {finding.updates} networks"
    is_slow = step is TrainingStep.ENVIRONMENT and finding.waits_for_simulator
    return f"{name} of a simulator" if is_slow else name


def _saved(measured: Sequence[WorkloadSaving]) -> str:
    """Return the words for the duration that is saved, or the range of them; "" if there was no gain."""
    least, most = (bound(one.seconds for one in measured) for bound in (min, max))
    if not most:
        return ""
    low, high = _duration(least), _duration(most)
    if low == high:
        return f"about {high}"
    return f"about {low} to {high}" if least else f"up to {high}"


def _at(measured: Sequence[WorkloadSaving], finding: Finding) -> str:
    """Return the sizes that a saving was measured at, or the size of the place; "" if there are too many to
    show, or the place is about other things than the workloads count.
    """
    distinct = sorted({(one.size, one.unit) for one in measured if one.unit})
    if finding.is_size_assumed:
        return f" (assuming {finding.size:,} {_ITEMS})"
    if finding.size is not None and distinct:
        size, unit = distinct[0]
        return f" (here {size:,} {unit if unit == _STEPS or _fits(unit, finding) else _ITEMS})"
    of_rollouts = {one.unit for one in measured if one.steps > 1}
    if not 0 < len(distinct) <= _SIZES_SHOWN or not all(
        unit in of_rollouts or _fits(unit, finding) for _, unit in distinct
    ):
        return ""
    (size, unit), (last, last_unit) = distinct[0], distinct[-1]
    first = "" if len(distinct) == 1 else f"{size:,} or " if unit == last_unit else f"{size:,} {unit} or "
    return f" ({first}{last:,} {last_unit})"


def _fits(unit: str, finding: Finding) -> bool:
    """Whether what is said of a place names what a unit counts: "agents", in the words or the code that it
    shows.
    """
    said = {
        word.removesuffix("s") for word in _WORDS.findall(f"{finding.message} {finding.advice or ''}".lower())
    }
    return any(word.removesuffix("s") in said for word in _NOUNS.findall(unit) if word not in _NO_NOUNS)


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
