"""The summary in every format besides the figures: the number of each verdict, reasons, and the machine."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlint.evidence.results import BUSY, Verdict
from rlint.output.verify import figures, rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rlint.evidence.results import Difference, Machine, RuleOutcome, Session

_REASONS = 2  # maximum number in a summary; each is listed elsewhere


@dataclass(frozen=True, slots=True)
class DifferenceGroup:
    """The same difference, over all cases that show it."""

    first: Difference
    others: int
    """Further cases that show it."""

    @property
    def where(self) -> str:
        """Return the case that is shown, and the number of others."""
        more = (
            f", and in {self.others:,} more {'case' if self.others == 1 else 'cases'}" if self.others else ""
        )
        when = f", {self.first.when}" if self.first.when else ""
        return f"at seed {self.first.seed}, size {self.first.size:,}{when}{more}"

    @property
    def cause(self) -> str:
        """Return which fixes cause the difference."""
        return "caused by the safe fixes" if self.first.safety == "safe" else "caused by the unsafe fixes"


def counts(session: Session) -> dict[str, int]:
    """Return the number of outcomes of each verdict; "not enough cases" and "failed" only if there are
    any.
    """
    found = Counter("failed" if outcome.failed else outcome.verdict.value for outcome in session.outcomes)
    usual = [verdict.value for verdict in Verdict if verdict is not Verdict.NOT_ENOUGH]
    listed = {word: found[word] for word in usual}
    if found[Verdict.NOT_ENOUGH.value]:
        listed[Verdict.NOT_ENOUGH.value] = found[Verdict.NOT_ENOUGH.value]
    return {**listed, **({"failed": found["failed"]} if found["failed"] else {})}


def summary_line(session: Session) -> str:
    """Return everything in one line: "16 faster, 2 no change, … in 183 s"."""
    if not session.outcomes:
        return f"Nothing was verified, in {figures.seconds(session.seconds)}."
    parts = [f"{number} {word}" for word, number in counts(session).items()]
    reasons = list(not_run(session))
    if reasons:
        named = "; ".join(reasons[:_REASONS]) + ("; …" if len(reasons) > _REASONS else "")
        place = list(counts(session)).index(Verdict.NOT_RUN.value)
        parts[place] += f" ({named})"
    return f"{', '.join(parts)} in {figures.seconds(session.seconds)}"


def remarks(session: Session) -> list[str]:
    """Return notes on the whole session that qualify its figures."""
    found = []
    if session.interrupted:
        found.append("Interrupted: the remaining workloads were not run.")
    if session.quick:
        found.append(
            "Quick run: behaviour was compared at one size, and fewer measurements make intervals wider."
        )
    if session.busy is not None and session.busy > BUSY:
        found.append(busy_warning(session.busy))
    return found


def busy_warning(busy: float) -> str:
    """Return a warning about figures from a machine that other programs used, too."""
    return f"Other programs used {busy:.0f} % of this machine when the run began: timings may be noisy."


def not_run(session: Session) -> dict[str, list[RuleOutcome]]:
    """Return the outcomes that were not run, by reason."""
    found: dict[str, list[RuleOutcome]] = {}
    for outcome in session.outcomes:
        if outcome.verdict is Verdict.NOT_RUN and not outcome.failed:
            found.setdefault(outcome.reason or "no reason is given", []).append(outcome)
    return found


def to_explain(session: Session) -> list[RuleOutcome]:
    """Return the outcomes that need explaining: different, worse, too few cases, or not finished."""
    wrong = (Verdict.DIFFERENT, Verdict.SLOWER, Verdict.NOT_ENOUGH)
    return [outcome for outcome in session.outcomes if outcome.failed or outcome.verdict in wrong]


def annotated(session: Session) -> list[RuleOutcome]:
    """Return the outcomes that are neither wrong nor left out, and have a note."""
    fine = (Verdict.FASTER, Verdict.NO_CHANGE)
    return [one for one in session.outcomes if one.reason and one.verdict in fine and not one.failed]


def excluded(session: Session) -> list[str]:
    """Return what workloads exclude from the comparison of behaviour, each with its reason."""
    return [
        f"{label(outcome)}: not compared, {what}: {why}"
        for outcome in session.outcomes
        if outcome.behaviour
        for what, why in outcome.behaviour.excluded.items()
    ]


def label(outcome: RuleOutcome) -> str:
    """Return "RL101 grow-states on cpu"."""
    return f"{name(outcome)} on {outcome.device}" if outcome.workload else outcome.subject


def labels(outcomes: Iterable[RuleOutcome]) -> str:
    """Return "RL101 grow-states on cpu, RL201 on cuda (4 workloads)"."""
    found: dict[tuple[str, str], list[RuleOutcome]] = {}
    for outcome in outcomes:
        found.setdefault((outcome.subject, outcome.device), []).append(outcome)
    return ", ".join(
        label(group[0]) if len(group) == 1 else f"{subject} on {device} ({len(group)} workloads)"
        for (subject, device), group in found.items()
    )


def name(outcome: RuleOutcome) -> str:
    """Return "RL101 grow-states"; a file that could not be loaded has no workload."""
    return f"{outcome.subject} {outcome.workload}".rstrip()


def reasons(outcome: RuleOutcome) -> list[str]:
    """Return the lines of an outcome's reason, without those that repeat the list of its differences."""
    listed = [str(one) for one in outcome.behaviour.differences] if outcome.behaviour else []
    if outcome.reason is None or outcome.reason in listed:
        return []
    return [line for line in outcome.reason.splitlines() if line.strip()]


def worse(outcome: RuleOutcome) -> list[str]:
    """Return a clause for each claimed quantity that is worse, with every size where it is."""
    found = []
    for measured in outcome.measurements:
        if not measured.claimed or measured.verdict is not Verdict.SLOWER:
            continue
        noun = rows.NOUNS.get(measured.claim, measured.claim)
        if measured.claim == "exp":
            found.append(f"{noun} {' → '.join(figures.exponents(measured))}")
            continue
        ratio = f"{figures.ratio_text(measured.ratio)}, " if measured.ratio else ""
        cost = figures.change(measured.before, measured.after, measured.unit)
        place = f" at {figures.size(measured.size, outcome.unit)}" if measured.size is not None else ""
        found.append(f"{noun}{place}: {ratio}{cost}")
    return found


def grouped(differences: Iterable[Difference]) -> list[DifferenceGroup]:
    """Return each kind of difference once, the safe fixes' first."""
    found: dict[tuple[str, str, str], list[Difference]] = {}
    for difference in differences:
        found.setdefault((difference.safety, difference.kind, difference.path), []).append(difference)
    groups = [DifferenceGroup(ones[0], len(ones) - 1) for ones in found.values()]
    return sorted(groups, key=lambda group: group.first.safety != "safe")


def machine_facts(machine: Machine) -> dict[str, str]:
    """Return the facts about the machine, by name."""
    facts = {
        "System": machine.system,
        "Processor": f"{machine.processor}, {machine.cores} {'core' if machine.cores == 1 else 'cores'}",
        "Memory": figures.amount(machine.memory, "bytes"),
        "Accelerator": machine.accelerator or "none",
        "Python": machine.python,
    }
    return {**facts, **machine.versions}


def promised(outcome: RuleOutcome) -> str | None:
    """Return a document's estimate beside the measured figure, or None."""
    if not outcome.estimate:
        return None
    claim, low, high = (outcome.estimate.get(key) for key in ("claim", "low", "high"))
    bounds = f"{low}×" if low == high else f"{low}–{high}×"
    measured = outcome.measurement(str(claim))
    figure = rows.gain_words(measured, named=False) if measured else "not measured"
    noun = rows.NOUNS.get(str(claim), str(claim))
    return f"{noun}: {bounds} by {outcome.estimate.get('source')}; measured {figure}"
