"""Find missing, stale or broken evidence. Runs the fixer, but no program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rlint.errors import RlintError
from rlint.evidence import recorded
from rlint.evidence.declared import devices_of
from rlint.evidence.occurrences import read_occurrences
from rlint.evidence.results import Verdict
from rlint.harness.record_evidence import hashes_of
from rlint.harness.subjects import WORKLOAD, fixture_folder, fixtures_of
from rlint.registry import catalogue
from rlint.registry.recorded_gain import DEVICES, evidence_file

if TYPE_CHECKING:
    from rlint.evidence.hashes import Hashes
    from rlint.evidence.recorded import Recording
    from rlint.registry.catalogue import RuleEntry


def check(entries: Sequence[RuleEntry], fixtures: Path | None = None) -> list[str]:
    """Return the problems of the evidence of rules, each as a sentence that says what to do.

    Evidence is required for the CPU, and for every other kind of device that has evidence of any rule and on
    which a workload of the rule claims a gain. It is read from the folder `fixtures`, by default the folder
    of the rule's fixtures.
    """
    found: list[str] = []
    kinds: dict[Path, set[str]] = {}
    for entry in entries:
        place = entry.fixtures and (fixtures or entry.fixtures)
        if place is not None:
            kinds[place] = kinds.get(place) or _kinds(place) | {"cpu"}
            found += _problems(entry, place, kinds[place])
        elif entry.module:
            found.append(f"{entry.code} {entry.name}: {entry.origin} comes without fixtures")
    return found


def _kinds(place: Path) -> set[str]:
    """Return the kinds of devices for which some rule has evidence below a folder of fixtures."""
    names = [entry.name for entry in catalogue.catalogue() if entry.module]
    found = ((device, evidence_file(place, name, device)) for device in DEVICES for name in names)
    return {device for device, path in found if path.exists()}


def _problems(entry: RuleEntry, place: Path, kinds: set[str]) -> list[str]:
    evidence = recorded.of(entry, place)
    label = f"{entry.code} {entry.name}"
    found = [f"{label}: {problem}" for problem in evidence.unreadable]
    try:
        devices = devices_of(fixture_folder(entry) / WORKLOAD)
        with fixtures_of([entry]) as (experiment,):
            now = hashes_of(experiment)
    except RlintError as error:
        message = str(error)
        return [*found, message if message.startswith(label) else f"{label}: {message}"]
    wanted = devices.run & ({"cpu"} | (kinds & devices.claimed))
    found += [
        f"{label}: no evidence is recorded for {device}{_again(entry, device)}"
        for device in DEVICES
        if device in wanted and not evidence_file(place, entry.name, device).exists()
    ]
    counted = read_occurrences(place, entry.name)
    if evidence.recordings and counted is not None and counted.fixture != now.fixture:
        found.append(f"{label}: its steps were counted in another fixture{_again(entry, 'cpu')}")
    for recording in evidence.recordings:
        found += [f"{label}: {problem}" for problem in _wrong(entry, recording, now)]
    return found


def _wrong(entry: RuleEntry, recording: Recording, now: Hashes) -> Iterator[str]:
    device = recording.device
    changes = recording.hashes.changes(fixture=now.fixture, fix=now.fix)
    if changes:
        yield f"the evidence for {device} is stale: {'; '.join(changes)}{_again(entry, device)}"
    for outcome in recording.outcomes:
        if outcome.verdict is Verdict.DIFFERENT:
            yield f"its fix changes the behaviour of {outcome.workload} on {device}: correct the fix"


def _again(entry: RuleEntry, device: str) -> str:
    return f" (`rlint verify {entry.code} --device {device} --record` measures it)"
