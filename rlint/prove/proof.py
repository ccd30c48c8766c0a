"""Results of `rlint prove` as plain data, and the file that contains them. Nothing in such a file is ever
executed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rlint.errors import RlintError
from rlint.evidence.results import Ratio, Verdict
from rlint.run_data import FixId
from rlint.source.files import read_regular

VERSION = 1
_MOST_BYTES = 50_000_000
NOT_REACHED, NOT_RECORDED, NO_FIX = "not reached", "not recorded", "no fix"
FASTER, NO_CHANGE, SLOWER, DIFFERENT = (
    Verdict.FASTER.value,
    Verdict.NO_CHANGE.value,
    Verdict.SLOWER.value,
    "different",
)
PROVEN = (FASTER, NO_CHANGE, SLOWER, DIFFERENT)
"""Verdicts that come from a comparison."""


@dataclass(frozen=True)
class ProvenFix:
    """The result of proving one fix, or all together."""

    code: str
    path: str
    line: int
    column: int
    message: str
    verdict: str
    reason: str = ""
    safety: str = ""
    title: str = ""
    ordinal: int = 0
    where: str = ""
    """The function or the statements that were replayed."""
    cases: int = 0
    sequences: int = 0
    calls: int = 0
    """Number of calls in the run."""
    ratio: Ratio | None = None
    control: Ratio | None = None
    before: float = 0.0
    after: float = 0.0
    """Seconds for each call, over all recorded ones."""
    share: float = 0.0
    """The fraction of the run that the replayed code takes."""
    memory: Ratio | None = None
    """Ratio of the peak memory of a call."""
    waits: tuple[float, ...] = ()
    """Synchronisations with the device per call, before and after; empty if there are none."""
    differences: tuple[Mapping[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    impact: str = ""
    """The impact that rlint had estimated."""
    estimate: Ratio | None = None
    """The gain that `--profile` had estimated, as a fraction of the run: value, low and high."""

    @property
    def name(self) -> FixId:
        """Return the identity of the fix."""
        return FixId(self.path, self.line, self.column, self.code, self.ordinal)

    @property
    def is_proven(self) -> bool:
        """Whether it keeps the results of the run, and is faster."""
        return self.verdict == FASTER

    @property
    def gain(self) -> Ratio | None:
        """Return the fraction of the whole run that the fix saves."""
        if self.ratio is None:
            return None
        value, low, high = (self.share * (1 - 1 / bound) for bound in dataclasses.astuple(self.ratio))
        return Ratio(value, low, high)


@dataclass(frozen=True)
class WholeRun:
    """The command itself, before and after all proven fixes, in alternation."""

    pairs: int
    before: float
    after: float
    ratio: Ratio
    same_output: bool | None
    """None if the output of the command varies between runs."""


@dataclass(frozen=True)
class Proof:
    """The results of one `rlint prove`."""

    command: tuple[str, ...]
    date: str
    version: str
    machine: Mapping[str, Any]
    status: int
    stopped: bool
    seconds: float
    overhead: float
    fixes: tuple[ProvenFix, ...]
    together: ProvenFix | None
    others: tuple[ProvenFix, ...] = ()
    """Findings that have no fix."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """Digests of the files that fixes change, by their names."""
    whole_run: WholeRun | None = None
    whole_problem: str = ""
    """Why the whole run could not be measured, though that was requested."""

    @property
    def reached(self) -> list[ProvenFix]:
        """Return the fixes whose code the run has executed."""
        return [one for one in self.fixes if one.verdict != NOT_REACHED]


def write(proof: Proof, path: Path, key: bytes | None) -> None:
    """Write a proof, signed if there is a key. Raises RlintError."""
    body = plain(proof)
    text = json.dumps(body, sort_keys=True)
    signature = hmac.new(key, text.encode("utf-8"), hashlib.sha256).hexdigest() if key else ""
    try:
        path.write_text(
            json.dumps({"rlint-proof": VERSION, "signature": signature, "proof": body}, indent=1) + "\n",
            encoding="utf-8",
        )
    except OSError as error:
        raise RlintError(f"{path}: cannot write the proof: {error.strerror or error}") from error


def read(path: Path, key: bytes | None) -> tuple[Proof, bool]:
    """Read a proof, and return whether it was created by this user on this machine. Raises RlintError."""
    data = read_regular(path, _MOST_BYTES)
    if data is None:
        raise RlintError(f"{path}: cannot read the proof: the file does not exist, or is not an rlint proof")
    try:
        held = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RlintError(f"{path} is not an rlint proof: {error}") from error
    try:
        if held["rlint-proof"] != VERSION:
            raise RlintError(f"{path} was written by another version of rlint; run `rlint prove` again")
        body = held["proof"]
        text = json.dumps(body, sort_keys=True).encode("utf-8")
        own = key is not None and hmac.compare_digest(
            str(held["signature"]), hmac.new(key, text, hashlib.sha256).hexdigest()
        )
        return _proof(body), own
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RlintError(f"{path} is not an rlint proof: it lacks or misstates {error}") from error


def plain(value: Any) -> Any:
    """Return a value as plain data for JSON."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if hasattr(value, "__slots__") and type(value).__module__.startswith("rlint."):
        return {name: plain(getattr(value, name)) for name in value.__slots__}
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


def _ratio(held: Any) -> Ratio | None:
    return None if held is None else Ratio(float(held["value"]), float(held["low"]), float(held["high"]))


def _fix(held: Mapping[str, Any]) -> ProvenFix:
    kinds: dict[str, Any] = {"str": str, "int": int, "float": float, "Ratio | None": _ratio}
    plain_fields = [each for each in dataclasses.fields(ProvenFix) if each.type in kinds]
    values: dict[str, Any] = {each.name: kinds[str(each.type)](held[each.name]) for each in plain_fields}
    return ProvenFix(
        **values,
        differences=tuple({str(k): str(v) for k, v in one.items()} for one in held["differences"]),
        notes=tuple(map(str, held["notes"])),
        waits=tuple(map(float, held["waits"])),
    )


def _fixes(held: Sequence[Any]) -> tuple[ProvenFix, ...]:
    return tuple(_fix(one) for one in held)


def _proof(held: Mapping[str, Any]) -> Proof:
    whole = held["whole_run"]
    return Proof(
        tuple(map(str, held["command"])),
        str(held["date"]),
        str(held["version"]),
        dict(held["machine"]),
        int(held["status"]),
        bool(held["stopped"]),
        float(held["seconds"]),
        float(held["overhead"]),
        _fixes(held["fixes"]),
        None if held["together"] is None else _fix(held["together"]),
        _fixes(held["others"]),
        {str(name): str(digest) for name, digest in held["digests"].items()},
        None
        if whole is None
        else WholeRun(
            int(whole["pairs"]),
            float(whole["before"]),
            float(whole["after"]),
            _ratio(whole["ratio"]) or Ratio(1, 1, 1),
            whole["same_output"],
        ),
        str(held.get("whole_problem", "")),
    )
