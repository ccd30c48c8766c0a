"""Which findings people read first, which are folded, and which are not sure enough to be shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reports import finding, report, source
from rlint.findings import Confidence, Finding, Heat, Impact, ImpactLevel, Position, Related
from rlint.output import ReportOptions, reporter
from rlint.output.ranking import ranked
from rlint.run_data import FileResult

TEXT = "".join(f"x = cat(x, {number})\n" for number in range(9))


def at(line: int, code: str = "RL101", **more: object) -> Finding:
    """A finding of a rule on a line of TEXT."""
    one = finding(TEXT, f"cat(x, {line - 1})", code=code)
    return replace(one, **more)  # type: ignore[arg-type]


def shown(*findings: Finding, **options: bool) -> str:
    """The default report."""
    options = {"summary": False, **options}
    found = report(*findings, sources=(source(TEXT),))
    return reporter("full")(found, ReportOptions(**options))  # type: ignore[arg-type]


def test_what_matters_most_comes_first() -> None:
    """High before medium before unknown before low; then hot before warm, certain before likely."""
    low, medium, high = (at(n, impact=Impact(level)) for n, level in enumerate(list(ImpactLevel)[1:], 1))
    unknown, warm = at(4), at(5, heat=Heat.WARM)
    likely = at(6, confidence=Confidence.LIKELY, assumption="`x` is a tensor")
    given = [low, likely, warm, unknown, medium, high]
    assert ranked(given) == [high, medium, unknown, likely, warm, low]


def test_findings_of_one_rule_are_folded() -> None:
    """Three are shown, the places of five more are named, and the rest is counted; each place once."""
    many = [at(line) for line in range(1, 10)]
    other = at(2, code="RL102")
    text = shown(*many, other, fold=True)
    assert text.count("RL101 concat-grown-buffer: `states` is copied whole") == 3
    assert "RL101 concat-grown-buffer: and 6 more like this (`--no-fold` shows them):" in text
    assert [f"agent.py:{line}:5" in text for line in range(1, 10)] == [True] * 9
    assert "RL102" in text
    everything = shown(*many, other)
    assert everything.count("RL101") == 9
    assert "more like this" not in everything


@pytest.mark.parametrize("number", [1, 3, 4])
def test_few_findings_are_not_folded(number: int) -> None:
    """One more in full is no longer than the words that there is one more."""
    text = shown(*[at(line) for line in range(1, number + 1)], fold=True)
    assert "more like this" not in text


def test_places_that_are_too_many_are_counted() -> None:
    """Of eight folded findings, the places of five are named."""
    text = shown(*[at(1)] * 11, fold=True)
    assert "and 8 more like this" in text
    assert "and 3 more" in text


def test_a_finding_says_what_it_assumes_and_where_else_it_is() -> None:
    """The assumption ends the message; further places are listed; the impact has its basis."""
    place = Related("agent.py", Position(3, 5), Position(3, 9), "(the same rows)")
    one = at(
        1,
        confidence=Confidence.LIKELY,
        assumption="`x` is a tensor",
        related=(place,),
        impact=Impact(ImpactLevel.MEDIUM, "saves 12 µs of each environment step"),
    )
    text = shown(one)
    assert "`states` is copied whole, if `x` is a tensor" in text
    assert "also: 3:5 (the same rows)" in text
    assert "impact: medium: saves 12 µs of each environment step" in text


def test_what_is_less_sure_is_left_out() -> None:
    """Of findings that are shown and of those that comments hide."""
    sure, likely = at(1), at(2, confidence=Confidence.LIKELY)
    result = FileResult(str(Path("a.py")), (sure, likely), hidden=(likely,))
    assert result.at_least(Confidence.LIKELY) is result
    left = result.at_least(Confidence.CERTAIN)
    assert (left.findings, left.hidden) == ((sure,), ())
