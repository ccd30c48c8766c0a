"""Texts about evidence in a line, a cell and a table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evidence_sessions import (
    DIFFERENT,
    FASTER,
    NO_CHANGE,
    SLOWER,
    UNCLAIMED,
    cost,
    outcome,
    read,
    written,
)
from rlint.evidence.results import RuleOutcome
from rlint.output import evidence_lines


def line(folder: Path, *outcomes: RuleOutcome) -> str | None:
    """The text in a finding of the rule, once these outcomes are recorded."""
    written(folder, *outcomes)
    return evidence_lines.line(read(folder, outcomes[0].subject))


def test_a_line_gives_the_range_over_workloads(tmp_path: Path) -> None:
    """Ratios at the typical sizes, from the smallest to the largest, with appropriate digits."""
    said = line(
        tmp_path,
        outcome("RL101", cost("time", 0.021, 0.010), cost("exp", 1.98, 1.02)),
        outcome("RL101", cost("time", 0.83, 0.010), workload="other"),
        outcome("RL101", cost("time", 9.0, 0.010, size=7), workload="at-no-typical-size"),
    )
    assert said == "2.10–83× as fast, growth n^1.98 → n^1.02 on cpu (3 workloads)"


def test_a_line_names_each_measure(tmp_path: Path) -> None:
    """Memory, processor time and counts are not called time; reductions to zero are given as counts."""
    said = line(
        tmp_path,
        outcome(
            "RL101", cost("cpu", 0.3, 0.1), cost("mem", 4e6, 2e6), cost("sync", 64, 0), cost("alloc", 10, 5)
        ),
    )
    assert said == (
        "3.00× less processor time, 2.00× less memory, 2.00× fewer allocations, "
        "64 → 0 synchronisations on cpu (1 workload)"
    )


def test_a_line_admits_losses(tmp_path: Path) -> None:
    """With a gain, the line says how many workloads were worse; without one, what was measured."""
    mixed = line(tmp_path, FASTER, replace(SLOWER, workload="small"), replace(NO_CHANGE, workload="tiny"))
    assert mixed == "1.00–5.0× as fast on cpu (3 workloads, 1 of them worse)"
    assert line(tmp_path, SLOWER, replace(NO_CHANGE, workload="tiny")) == (
        "no gain on cpu (time 0.50–1.00×, 2 workloads)"
    )
    assert line(tmp_path, DIFFERENT) == "its fix changes the behaviour of 1 workload on cpu"


def test_a_line_distinguishes_devices(tmp_path: Path) -> None:
    """A gain on a GPU does not hide that there is none on the host."""
    cuda = outcome("RL101", cost("time", 0.4, 0.1), device="cuda")
    assert line(tmp_path, NO_CHANGE, cuda) == (
        "no gain on cpu (time 1.00×, 1 workload); 4.0× as fast on cuda (1 workload)"
    )
    assert evidence_lines.cell(read(tmp_path)) == "4.0× as fast on cuda"


def test_what_was_not_measured_is_not_claimed(tmp_path: Path) -> None:
    """A rule for GPUs says so if none was available; the engine's own codes have no measurements."""
    assert evidence_lines.line(read(tmp_path)) == "not yet"
    assert evidence_lines.line(read(tmp_path, "RL201")) == "not yet on cuda, where the cost arises"
    assert line(tmp_path, replace(UNCLAIMED, subject="RL201", name="blocking-transfer")) == (
        "not yet on cuda, where the cost arises"
    )
    assert evidence_lines.line(read(tmp_path, "RL900")) is None
    assert [evidence_lines.cell(read(tmp_path, code)) for code in ("RL101", "RL201", "RL900")] == [
        "–",
        "–",
        "–",
    ]
