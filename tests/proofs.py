"""A proof, built by hand, for tests of its reports."""

from __future__ import annotations

from rlint.evidence.results import Ratio
from rlint.prove.proof import (
    DIFFERENT,
    FASTER,
    NO_CHANGE,
    NO_FIX,
    NOT_REACHED,
    NOT_RECORDED,
    SLOWER,
    Proof,
    ProvenFix,
    WholeRun,
)


def fix(line: int, verdict: str, message: str = "it is slow", **more: object) -> ProvenFix:
    """One fix, with times if it has any."""
    if verdict in (FASTER, NO_CHANGE, SLOWER):
        value = {FASTER: 1.5, NO_CHANGE: 1.0, SLOWER: 0.8}[verdict]
        more = {
            "ratio": Ratio(value, value - 0.1, value + 0.1),
            "control": Ratio(1.0, 0.97, 1.04),
            "cases": 8,
            "sequences": 2,
            "calls": 4000,
            "share": 0.2,
            "where": "Agent.act",
            **more,
        }
    return ProvenFix("RL301", "train.py", line, 1, message, verdict, impact="high", **more)  # type: ignore[arg-type]


HOSTILE = "</script><script>alert(1)</script> @everyone `x` | *y*"
DIFFERENCE = {"kind": "value", "path": HOSTILE, "before": HOSTILE, "after": "2", "when": ""}
EVERY_VERDICT = Proof(
    ("python", "train.py"),
    "2026-01-02T03:04:05+00:00",
    "0.1.0",
    {"system": "Linux"},
    0,
    stopped=False,
    seconds=31.5,
    overhead=1.08,
    fixes=(
        fix(3, FASTER, memory=Ratio(2, 2, 2), estimate=Ratio(0.1, 0.05, 0.2)),
        fix(9, NO_CHANGE),
        fix(12, SLOWER),
        fix(20, DIFFERENT, differences=(DIFFERENCE,)),
        fix(30, NOT_RECORDED, reason=HOSTILE),
        fix(40, NOT_REACHED),
    ),
    together=fix(0, FASTER),
    others=(fix(50, NO_FIX),),
    whole_run=WholeRun(3, 31.0, 28.0, Ratio(1.1, 1.05, 1.15), same_output=True),
)
"""Each verdict once."""
