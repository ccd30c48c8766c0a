"""Sessions about real rules, for tests of recorded evidence. The figures are made up."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from fixture_folders import ROOT
from rlint.evidence.hashes import Hashes
from rlint.evidence.recorded import Evidence, Recording, of, to_text
from rlint.evidence.results import Machine, Measurement, Ratio, RuleOutcome, Session, Verdict
from rlint.harness.record_evidence import record
from rlint.registry import catalogue
from rlint.registry.recorded_gain import evidence_file

MACHINE = Machine(
    "Linux 6.1",
    "a processor",
    2,
    8_000_000_000,
    "3.11.2",
    {"rlint": "0.1.0", "torch": "2.13.0", "numpy": "2.4.0"},
    "an accelerator",
)
DATE = "2026-03-01T12:30:00+00:00"
CODES = {
    "RL101": "concat-grown-buffer",
    "RL201": "blocking-transfer",
    "RL305": "cloned-state-dict",
    "RL401": "busy-wait-sleep",
}


def cost(
    claim: str, before: float, after: float, verdict: Verdict = Verdict.FASTER, size: int = 1_000
) -> Measurement:
    """One cost with an interval of 10 % around it; growth has no ratio."""
    if claim == "exp":
        middle = before - after
        difference = Ratio(middle, middle - 0.04, middle + 0.04)
        return Measurement(
            claim, None, before, after, "exponent", None, verdict, claimed=True, difference=difference
        )
    value = before / after if after else float("inf")
    ratio = Ratio(value, value * 0.95, value * 1.05)
    unit = {"time": "s", "cpu": "s", "mem": "bytes"}.get(claim, "count")
    return Measurement(claim, size, before, after, unit, ratio, verdict, claimed=True)


def outcome(
    code: str,
    *costs: Measurement,
    verdict: Verdict = Verdict.FASTER,
    workload: str = "replay-buffer",
    device: str = "cpu",
    claims: tuple[str, ...] | None = None,
    estimate: dict[str, object] | None = None,
    reason: str | None = None,
    failed: bool = False,
) -> RuleOutcome:
    """One workload of a rule; by default, it claims what it measures."""
    claimed = tuple(one.claim for one in costs) if claims is None else claims
    return RuleOutcome(
        code, CODES.get(code, ""), workload, f"What {workload} does", device, "rows", 1_000, verdict,
        claimed, reason, None, costs, estimate, failed,
    )  # fmt: skip


def session(*outcomes: RuleOutcome, quick: bool = False, interrupted: bool = False) -> Session:
    """A session as `rlint verify` returns it."""
    return Session(MACHINE, DATE, 12.0, quick, outcomes, interrupted)


FASTER = outcome("RL101", cost("time", 0.010, 0.002))
NO_CHANGE = outcome("RL101", cost("time", 0.010, 0.010, Verdict.NO_CHANGE), verdict=Verdict.NO_CHANGE)
SLOWER = outcome("RL101", cost("time", 0.010, 0.020, Verdict.SLOWER), verdict=Verdict.SLOWER)
DIFFERENT = outcome("RL101", verdict=Verdict.DIFFERENT, claims=("time",))
NOT_RUN = outcome("RL101", verdict=Verdict.NOT_RUN, claims=("time",), reason="no GPU")
UNCLAIMED = outcome(
    "RL101", cost("time", 0.010, 0.010, Verdict.NO_CHANGE), verdict=Verdict.NO_CHANGE, claims=()
)
RL101 = catalogue.find("RL101")


def read(folder: Path, code: str = "RL101") -> Evidence:
    """The evidence of a rule below a folder."""
    return of(catalogue.find(code), folder)


def written(folder: Path, *outcomes: RuleOutcome) -> None:
    """Put evidence files below a folder, as recording does, for a rule and fixture that are not read."""
    for name, device in {(one.name, one.device) for one in outcomes}:
        own = tuple(one for one in outcomes if (one.name, one.device) == (name, device))
        recording = Recording(own[0].subject, name, device, DATE, MACHINE, Hashes("", ""), own)
        path = evidence_file(folder, name, device)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(to_text(recording), encoding="utf-8")


def checkout(folder: Path, outcomes: Iterable[RuleOutcome] = ()) -> Path:
    """A copy of rlint with these outcomes as its only evidence; `python -m rlint` in it runs the copy."""
    unwanted = {"fixtures": ("__pycache__", "evidence", "cases")}  # the folder rlint/evidence is wanted
    for name in ("rlint", "rules", "fixtures"):
        ignored = shutil.ignore_patterns(*unwanted.get(name, ("__pycache__",)))
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    if found := tuple(outcomes):
        record(session(*found), folder / "fixtures")
    index = [sys.executable, "-m", "rlint.registry.make_rule_index"]
    subprocess.run(index, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    return folder
