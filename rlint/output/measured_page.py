"""Measurements of rules as Markdown: a section of a rule's page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.evidence import recorded
from rlint.evidence.results import Verdict
from rlint.output.evidence_lines import NAMES, growth, line
from rlint.output.verify import figures
from rlint.registry.recorded_gain import Gain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rlint.evidence.recorded import Evidence, Recording
    from rlint.evidence.results import Machine, Measurement, RuleOutcome
    from rlint.registry.catalogue import RuleEntry

_NOTHING = "–"
_REFERENCES = "\n## References\n"


def with_measured(page: str, section: str) -> str:
    """Insert the section into a page, before its references; at the end of a page without any."""
    before, heading, references = page.rpartition(_REFERENCES)
    if not heading:
        return f"{page.rstrip()}\n\n{section}"
    return f"{before}\n{section}{heading}{references}"


def with_evidence(page: str, entry: RuleEntry) -> str:
    """Add the measurements of a rule to its page, if it has a fixture."""
    if entry.fixtures is None:
        return page
    evidence = recorded.of(entry)
    return with_measured(page, section(evidence, recorded.stale(evidence)))


def section(evidence: Evidence, stale: Mapping[str, Sequence[str]]) -> str:
    """Return the section "Measured" of a rule's page. `stale` says per device what has changed since."""
    said = line(evidence) or "not yet"
    text = f"## Measured\n{said[0].upper()}{said[1:]}.\n"
    if evidence.gain is Gain.NONE:
        text += "\nNo gain was measured, so the rule is off unless selected.\n"
    if evidence.recordings:
        text += "\n" + _table(evidence.recordings)
        text += "\nRatios are before to after, with their 95 % intervals; each at the typical size.\n\n"
        notes = "".join(_notes(evidence.recordings))
        text += f"{notes}\n" if notes else ""
        text += "".join(f"- {circumstances(recording)}\n" for recording in evidence.recordings)
    for device, changes in stale.items():
        if changes:
            text += f"\nStale on {device}: {'; '.join(changes)}.\n"
    return text + "".join(f"\n{problem}\n" for problem in evidence.unreadable)


def fix_words(fixes: str) -> str:
    """Return the text about the safety of a rule's fixes: "advice" if there are none."""
    return fixes.replace("none", "advice")


def _notes(recordings: Sequence[Recording]) -> Iterator[str]:
    """Yield notes besides the figures: where the fix is worse, and what else it costs."""
    for recording in recordings:
        for outcome in recording.outcomes:
            if outcome.reason and outcome.verdict in (Verdict.FASTER, Verdict.NO_CHANGE, Verdict.SLOWER):
                yield f"- {outcome.title}, on {recording.device}: {outcome.reason}\n"


def _table(recordings: Sequence[Recording]) -> str:
    rows = [
        row
        for recording in recordings
        for outcome in recording.outcomes
        for row in _rows_of(recording.device, outcome)
    ]
    return _rows(("device", "workload", "size", "claim", "before → after", "measured", "growth"), rows)


def _rows_of(device: str, outcome: RuleOutcome) -> Iterator[tuple[str, ...]]:
    begin = (device, outcome.title, figures.size(outcome.typical, outcome.unit))
    if outcome.verdict in (Verdict.DIFFERENT, Verdict.NOT_RUN):
        reason = f": {outcome.reason}" if outcome.reason else ""
        behaviour = outcome.behaviour
        said = "same behaviour, cost not measured" if behaviour and behaviour.same else outcome.verdict.value
        yield (*begin, _NOTHING, _NOTHING, f"{said}{reason}", _NOTHING)
        return
    exponent = outcome.measurement("exp") if "exp" in outcome.claims else None
    grown = growth(exponent) if exponent else _NOTHING
    claims = [claim for claim in outcome.claims if claim != "exp"] or ["exp"]
    for claim in claims:
        found = outcome.measurement(claim)
        name = NAMES.get(claim, claim)
        if found is None or claim == "exp":
            verdict = found.verdict.value if found else "not measured"
            yield (*begin, name, _NOTHING, verdict, grown)
        else:
            change = figures.change(found.before, found.after, found.unit)
            yield (*begin, name, change, _judged(found), grown)
        grown = _NOTHING


def _judged(found: Measurement) -> str:
    ratio = figures.ratio_text(found.ratio) if found.ratio else _NOTHING
    return ratio if found.verdict is Verdict.FASTER else f"{ratio}, {found.verdict.value}"


def circumstances(recording: Recording) -> str:
    """Return when and where it was measured, and what was compared, in one line."""
    cases = sum(outcome.behaviour.cases for outcome in recording.outcomes if outcome.behaviour)
    behaviour = f"behaviour compared in {cases:,} cases"
    machine = _machine(recording.machine, recording.device)
    return f"{recording.device}: {recording.date[:10]}, {behaviour}; {machine}"


def _machine(machine: Machine, device: str) -> str:
    parts = [machine.accelerator] if machine.accelerator and device != "cpu" else []
    parts += [machine.processor, f"{machine.cores} cores", figures.amount(machine.memory, "bytes")]
    versions = [f"{name} {version}" for name, version in sorted(machine.versions.items())]
    return ", ".join([*parts, machine.system, f"Python {machine.python}", *versions])


def _rows(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(map(_escaped, row))} |\n" for row in (head, *rows)]
    return "".join([lines[0], "|" + "---|" * len(head) + "\n", *lines[1:]])


def _escaped(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
