"""Evidence files: measurements of one rule on one kind of device, with the machine and the texts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlint.evidence import results_codec
from rlint.evidence.hashes import Hashes, hash_of_fixture
from rlint.evidence.results import Machine, RuleOutcome, Session, Verdict
from rlint.frozen import frozen
from rlint.registry.recorded_gain import DEVICES, Gain, evidence_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rlint.registry.catalogue import RuleEntry

SCHEMA = 2
"""Changed when a key of the file is renamed, removed or given another meaning."""
_SIGNIFICANT_DIGITS = 4
_WIDEST = 320  # maximum characters of a JSON value on one line: those of a measurement
_MEASURED = (Verdict.FASTER, Verdict.NO_CHANGE, Verdict.SLOWER)


@frozen
class Recording:
    """One evidence file."""

    code: str
    name: str
    device: str
    """The kind of device: "cpu", "cuda" or "mps"."""
    date: str
    """ISO 8601, UTC."""
    machine: Machine
    hashes: Hashes
    outcomes: tuple[RuleOutcome, ...]

    @property
    def claimed(self) -> tuple[RuleOutcome, ...]:
        """Return the outcomes that were measured where a gain is claimed."""
        return tuple(found for found in self.outcomes if found.claims and found.verdict in _MEASURED)

    @property
    def gain(self) -> Gain:
        """Return the gain that the outcomes on this device show."""
        if any(found.verdict is Verdict.FASTER for found in self.claimed):
            return Gain.SOME
        # A program that behaves differently shows nothing about the gain of the fix.
        different = any(found.claims and found.verdict is Verdict.DIFFERENT for found in self.outcomes)
        return Gain.NONE if self.claimed and not different else Gain.UNKNOWN


@frozen
class Evidence:
    """All evidence files of a rule."""

    entry: RuleEntry
    recordings: tuple[Recording, ...]
    """One per kind of device on which it was measured, in the order of DEVICES."""
    unreadable: tuple[str, ...] = ()
    """Unreadable files, why, and what to do."""

    @property
    def gain(self) -> Gain:
        """Return the gain that all measurements show."""
        return Gain.over(recording.gain for recording in self.recordings)

    @property
    def only_on(self) -> tuple[str, ...]:
        """Return the only kinds of devices on which the rule claims a gain; none, if it claims one
        everywhere.
        """
        devices = [claim.partition(":")[2] for claim in self.entry.claims]
        return tuple(dict.fromkeys(devices)) if devices and all(devices) else ()


def of(entry: RuleEntry, fixtures: Path | None = None) -> Evidence:
    """Read what was measured of a rule. Broken files are reported, and raise nothing.

    `fixtures` is the folder of all fixtures; that of the rule's origin, if not given.
    """
    place = entry.fixtures and (fixtures or entry.fixtures)
    if place is None:
        return Evidence(entry, ())
    recordings, unreadable = [], []
    for device in DEVICES:
        path = evidence_file(place, entry.name, device)
        try:
            recording = from_text(path.read_bytes().decode())
            _require((recording.code, recording.name) == (entry.code, entry.name), "it is about another rule")
            _require(recording.device == device, f"it is about {recording.device}")
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            what = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            unreadable.append(
                f"{path}: cannot be read ({what}); `rlint verify {entry.code} --record` rewrites it"
            )
        else:
            recordings.append(recording)
    return Evidence(entry, tuple(recordings), tuple(unreadable))


def stale(evidence: Evidence) -> dict[str, list[str]]:
    """Return, by device, the parts of the fixture that have changed since the measurement. The fixer is not
    run for the comparison.

    Raises RlintError for a fixture that cannot be read.
    """
    place = evidence.entry.fixtures
    if place is None or not evidence.recordings:
        return {}
    now = hash_of_fixture(place / evidence.entry.name)
    return {one.device: one.hashes.changes(fixture=now) for one in evidence.recordings}


def to_text(recording: Recording) -> str:
    """Return the content of an evidence file: the gain first, the rest by key, figures rounded."""
    return _written(_rounded(to_json(recording))) + "\n"


def to_json(recording: Recording) -> dict[str, Any]:
    """Return a recording as plain data for `json.dumps`."""
    session = Session(recording.machine, recording.date, 0.0, quick=False, outcomes=recording.outcomes)
    encoded = results_codec.to_json(session)
    data = {
        "code": recording.code,
        "date": recording.date,
        "device": recording.device,
        "hashes": asdict(recording.hashes),
        "machine": encoded["machine"],
        "name": recording.name,
        "outcomes": encoded["outcomes"],
        "schema": SCHEMA,
    }
    # Only the gain is read at every start of `rlint check` (rlint.registry.recorded_gain).
    return {"gain": recording.gain.value, **_sorted(data)}


def from_text(text: str) -> Recording:
    """Read what `to_text` wrote. Raises ValueError, with what is wrong."""
    try:
        return _recording(json.loads(text))
    except (RecursionError, OverflowError) as error:  # unlimited nesting, or a number of unlimited length
        raise ValueError(str(error)) from error


def _recording(data: Any) -> Recording:
    _require(isinstance(data, dict), "it is no JSON object")
    _require(data.get("schema") == SCHEMA, f"its `schema` is {data.get('schema')!r}, not {SCHEMA}")
    keys = {"gain", "schema", "code", "name", "device", "date", "hashes", "machine", "outcomes"}
    _require(set(data) == keys, f"its keys are not those of an evidence file: {sorted(set(data) ^ keys)}")
    for key in ("code", "name", "device", "date"):
        _require(isinstance(data[key], str), f"its `{key}` is no text")
    session = results_codec.from_json(
        {
            "schema": results_codec.SCHEMA,
            "machine": data["machine"],
            "date": data["date"],
            "seconds": 0.0,
            "quick": False,
            "outcomes": data["outcomes"],
        }
    )
    hashes = data["hashes"]
    known = isinstance(hashes, dict) and set(hashes) == set(Hashes.__annotations__)
    _require(known and all(isinstance(one, str) for one in hashes.values()), "its `hashes` are broken")
    recording = Recording(
        data["code"],
        data["name"],
        data["device"],
        data["date"],
        session.machine,
        Hashes(**hashes),
        session.outcomes,
    )
    _require(data["gain"] == recording.gain.value, "its `gain` contradicts its outcomes")
    return recording


def _require(fine: object, otherwise: str) -> None:
    if not fine:
        raise ValueError(otherwise)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_SIGNIFICANT_DIGITS}g}") if math.isfinite(value) else value
    return _each(value, _rounded)


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return _each(value, _sorted)


def _each(value: Any, change: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: change(item) for key, item in value.items()}
    return [change(item) for item in value] if isinstance(value, list) else value


def _written(value: Any, indent: str = "") -> str:
    """Return JSON with short values on one line: a changed measurement is one changed line."""
    compact = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not isinstance(value, (dict, list)) or (len(compact) <= _WIDEST and indent):
        return compact
    inner = indent + "  "
    if isinstance(value, dict):
        items: Iterable[str] = (
            f"{json.dumps(key, ensure_ascii=False)}: {_written(item, inner)}" for key, item in value.items()
        )
        first, last = "{", "}"
    else:
        items, first, last = (_written(item, inner) for item in value), "[", "]"
    return f"{first}\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}{last}"
