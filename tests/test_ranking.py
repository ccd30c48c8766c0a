"""The order of findings, and which are folded or hidden for low confidence."""

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


MEDIUM = Impact(ImpactLevel.MEDIUM)
FORMS = ("`states` is copied whole", "`states` grows", "`states` is cut", "`states` is sorted")


def test_findings_of_one_rule_are_folded() -> None:
    """Three messages are shown in full, the places of five more are named, and the rest is counted; each
    place once.
    """
    many = [at(line, message=FORMS[line % 4], impact=MEDIUM) for line in range(1, 10)]
    other = at(2, code="RL102")
    text = shown(*many, other, fold=True)
    assert text.count("RL101 concat-grown-buffer: `states`") == 3
    assert "RL101 concat-grown-buffer: and 6 more like this (`--no-fold` shows them):" in text
    assert [f"agent.py:{line}:5" in text for line in range(1, 10)] == [True] * 9
    assert "RL102" in text
    everything = shown(*many, other)
    assert everything.count("RL101") == 9
    assert "more like this" not in everything


def test_one_finding_of_unknown_impact_is_shown() -> None:
    """The places of the others are named: less than half of such findings are worth a change."""
    many = [at(line, message=FORMS[line % 4]) for line in range(1, 10)]
    text = shown(*many, fold=True)
    assert text.count("RL101 concat-grown-buffer: `states`") == 1
    assert "RL101 concat-grown-buffer: and 8 more like this (`--no-fold` shows them):" in text


def test_findings_that_differ_in_names_alone_are_shown_once() -> None:
    """Copied code is a finding for each copy, but is read once."""
    text = shown(*[at(line, message=f"`x{line}` is copied whole") for line in range(1, 7)], fold=True)
    assert text.count("is copied whole") == 1
    assert "RL101 concat-grown-buffer: and 5 more like this" in text


def test_advice_is_given_once_for_each_rule() -> None:
    """The second finding of a rule repeats neither the help nor the measurement."""
    many = [at(line, message=FORMS[line % 4], advice="Collect the rows") for line in range(1, 10)]
    assert shown(*many, fold=True).count("help: Collect the rows") == 1
    assert shown(*many).count("help: Collect the rows") == 9


def test_the_first_findings_are_a_screen() -> None:
    """Twelve are shown in full; for later rules, only the places."""
    many = [
        at(line, code=f"RL{rule}", message=FORMS[line % 4], impact=MEDIUM)
        for rule in range(101, 108)
        for line in (1, 2, 3)
    ]
    text = shown(*many, fold=True)
    assert text.count("note: no automatic fix") == 12
    assert "Further findings (`--no-fold` shows them in full):\n" in text
    assert "  RL107 concat-grown-buffer: 3 findings: agent.py:1:5, agent.py:2:5, agent.py:3:5\n" in text


@pytest.mark.parametrize("number", [1, 3, 4])
def test_few_findings_are_not_folded(number: int) -> None:
    """Showing one more finding takes no more lines than a note about it."""
    text = shown(*[at(line) for line in range(1, number + 1)], fold=True)
    assert "more like this" not in text


def test_places_that_are_too_many_are_counted() -> None:
    """Of eight folded findings, the places of five are named."""
    text = shown(*[at(1)] * 9, fold=True)
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
    assert "`states` is copied whole (if `x` is a tensor)" in text
    assert "also: 3:5 (the same rows)" in text
    assert "impact: medium: saves 12 µs of each environment step" in text


def test_what_is_less_sure_is_left_out() -> None:
    """Confidence applies to shown findings and to suppressed ones."""
    sure, likely = at(1), at(2, confidence=Confidence.LIKELY)
    result = FileResult(str(Path("a.py")), (sure, likely), hidden=(likely,))
    assert result.at_least(Confidence.LIKELY) is result
    left = result.at_least(Confidence.CERTAIN)
    assert (left.findings, left.hidden) == ((sure,), ())
