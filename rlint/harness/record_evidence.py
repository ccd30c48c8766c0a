"""Write the measurements of a session to evidence files, from which reports about rules read their
figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

from rlint.errors import RlintError
from rlint.evidence.hashes import Hashes, hash_of_fixture, hash_of_texts
from rlint.evidence.recorded import Recording, to_text
from rlint.evidence.results import RuleOutcome, Session, Verdict
from rlint.harness.program import AFTER, SAFE
from rlint.harness.subjects import Experiment, fixture_folder, fixtures_of
from rlint.registry import catalogue
from rlint.registry.recorded_gain import DEVICES, evidence_file
from rlint.source.atomic_write import replace_file


def hashes_of(experiment: Experiment) -> Hashes:
    """Return digests of the inputs of a rule's measurements. Raises RlintError."""
    subject = experiment.subject
    return Hashes(
        fixture=hash_of_fixture(Path(subject.workload).parent),
        fix=hash_of_texts(subject.texts[SAFE][subject.main], subject.texts[AFTER][subject.main]),
    )


def record(
    session: Session, directory: Path | None = None, *, measured: Mapping[str, Hashes] | None = None
) -> list[Path]:
    """Write `<rule>/evidence/<device>.json` below the folder of all fixtures, or below `directory`.

    Return the files, by rule and device. A kind of device on which nothing was run gets none. `measured`
    contains, by code, the result of `hashes_of` before the session: rules that have changed while they were
    measured are not recorded. Raises RlintError for a session that is not evidence (quick, interrupted, about
    the user's own files), and, after everything else is written, for rules that could not be recorded.
    """
    if session.quick or session.interrupted:
        how = "quick" if session.quick else "interrupted"
        raise RlintError(f"nothing was recorded: the run was {how}, but evidence needs a full run")
    groups = _groups(session)
    entries = {code: catalogue.find(code) for code, _, _ in groups}
    with fixtures_of(list(entries.values())) as experiments:
        now = {one.label: hashes_of(one) for one in experiments}
    written, problems = [], []
    for code, device, outcomes in groups:
        entry = entries[code]
        if reason := _refused(outcomes, (measured or now).get(code) == now[code]):
            problems.append(f"{code} {entry.name} on {device} was not recorded: {reason}")
            continue
        recording = Recording(code, entry.name, device, session.date, session.machine, now[code], outcomes)
        path = evidence_file(directory or fixture_folder(entry).parent, entry.name, device)
        _write(path, to_text(recording))
        written.append(path)
    if problems:
        raise RlintError("\n".join(problems))
    return written


def _groups(session: Session) -> list[tuple[str, str, tuple[RuleOutcome, ...]]]:
    """Return code, device and outcomes of everything that was run, by code and device."""

    def key(outcome: RuleOutcome) -> tuple[str, int]:
        return outcome.subject, DEVICES.index(outcome.device)

    own = sorted({outcome.subject for outcome in session.outcomes if not outcome.name})
    if own:
        raise RlintError(f"nothing was recorded: evidence belongs to rules, and {own[0]} is not a rule")
    groups = [tuple(group) for _, group in groupby(sorted(session.outcomes, key=key), key=key)]
    return [
        (group[0].subject, group[0].device, group)
        for group in groups
        if any(
            # Compared behaviour is evidence, too, if no cost is claimed.
            outcome.verdict is not Verdict.NOT_RUN or outcome.failed or outcome.behaviour is not None
            for outcome in group
        )
    ]


def _refused(outcomes: tuple[RuleOutcome, ...], unchanged: bool) -> str | None:  # noqa: FBT001 - private
    failed = [outcome.workload for outcome in outcomes if outcome.failed]
    if failed:
        return f"{', '.join(failed)} did not finish"
    few = [outcome.workload for outcome in outcomes if outcome.verdict is Verdict.NOT_ENOUGH]
    if few:
        return f"too few cases of {', '.join(few)} were compared to say that nothing differs"
    return None if unchanged else "the rule changed while it was measured; measure it again"


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode("utf-8", "backslashreplace"))  # JSON's own escapes
    except OSError as error:
        raise RlintError(
            f"{path} cannot be written: {error.strerror or error}; name a folder that can be written to"
        ) from error
