"""The page of a survey: findings by rule and repository, gains of fixes, and changes since the last run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from rlint import __version__
from rlint.frozen import frozen
from rlint.output import templates
from rlint.output.counts import count

if TYPE_CHECKING:
    from rlint.output.survey_tallies import RepositoryTally, RuleTally, Tallies

MOST_REPOSITORIES = 200
_MOST_PLACES = 20
_LEVELS = ("high", "medium", "low", "unknown")
_RULE_COLUMNS = ("Rule", "Findings", "Repositories", "Impact", "Fixes", "Measured", "Change")
_COLUMNS = ("Repository", "Findings", "High impact", "With a fix", "Files", "Change")


@frozen
class SurveyReport:
    """The content of the page."""

    date: str
    rules: Tallies
    repositories: Sequence[RepositoryTally]
    measured: Mapping[str, str] = field(default_factory=dict)
    """The gains of rules' fixes, by code."""
    before: str = ""
    """The date of the run that this one is compared with; "" for none."""
    remarks: Sequence[str] = ()


def render(report: SurveyReport) -> str:
    """Return the whole file."""
    ordered = sorted(report.rules.items(), key=lambda each: _weight(each[1]))
    fired = [(code, one) for code, one in ordered if one.findings]
    most = max((one.findings for _, one in fired), default=1)
    checked = [each for each in report.repositories if not each.reason]
    busiest = sorted(
        (each for each in checked if each.findings or each.new or each.removed),
        key=lambda each: (-each.high, -each.findings, each.name),
    )
    return templates.page(
        "survey.html.jinja",
        f"rlint survey: {count(sum(each.findings for each in checked), 'finding')}",
        "findings.css",
        "survey.css",
        summary="Performance problems of many repositories, by rule and repository",
        date=report.date,
        version=__version__,
        counts=list(_counts(report, checked)),
        remarks=report.remarks,
        compared=list(_compared(report, checked)),
        rule_columns=_RULE_COLUMNS,
        rules=[(code, one, *_cells(report, code, one), _bar(one, most)) for code, one in fired],
        removed=[(code, one) for code, one in ordered if not one.findings],
        columns=_COLUMNS,
        repositories=[(each, _change(each.new, each.removed)) for each in busiest[:MOST_REPOSITORIES]],
        more=max(0, len(busiest) - MOST_REPOSITORIES),
        places=[(code, one, _places(one)) for code, one in fired],
        left=[each for each in report.repositories if each.reason],
        levels=_LEVELS,
    )


def _weight(one: RuleTally) -> tuple[int, ...]:
    """Return the sort key of rules: the greatest impact first."""
    return (*(-one.impacts[level] for level in _LEVELS[:2]), -one.findings)


def _counts(report: SurveyReport, checked: Sequence[RepositoryTally]) -> Iterator[tuple[str, str]]:
    yield _number(len(report.repositories)), "repositories"
    yield _number(sum(each.files for each in checked)), "files"
    yield _number(sum(each.findings for each in checked)), "findings"
    yield _number(sum(each.high for each in checked)), "of high impact"
    yield _number(sum(each.fixable for each in checked)), "with a fix"
    if report.before:
        yield _number(sum(each.new or 0 for each in checked)), "new"
        yield _number(sum(each.removed or 0 for each in checked)), "gone"
    yield _number(len(report.repositories) - len(checked)), "not checked"


def _compared(report: SurveyReport, checked: Sequence[RepositoryTally]) -> Iterator[str]:
    """Yield sentences that compare the run with the previous one."""
    if not report.before:
        yield "There is no earlier run to compare with."
        return
    changed = sum(1 for each in checked if each.new or each.removed)
    yield f"Compared with the run of {report.before}: findings changed in {repositories(changed)}."
    unknown = sum(1 for each in checked if each.new is None)
    if unknown:
        yield f"{repositories(unknown)} cannot be compared, as that run did not check them."


def repositories(number: int) -> str:
    """Return a number of repositories: "1 repository", "1,200 repositories"."""
    return f"{_number(number)} {'repository' if number == 1 else 'repositories'}"


def _cells(report: SurveyReport, code: str, one: RuleTally) -> tuple[str, str, str]:
    fixes = [f"{_number(one.fixes[word])} {word}" for word in ("safe", "unsafe") if one.fixes[word]]
    change = _change(one.new, one.removed) if report.before else "–"
    return ", ".join(fixes) or "–", report.measured.get(code, "–"), change


def _change(new: int | None, removed: int | None) -> str:
    if new is None or removed is None:
        return "–"
    return f"+{_number(new)} −{_number(removed)}" if new or removed else "0"


def _bar(one: RuleTally, most: int) -> list[tuple[str, str, float]]:
    """Return the parts of a bar: level, number of findings as text, and its share of the longest bar."""
    return [
        (level, f"{_number(one.impacts[level])} {level}", one.impacts[level] / most)
        for level in _LEVELS
        if one.impacts[level]
    ]


def _places(one: RuleTally) -> tuple[list[tuple[str, str]], int]:
    """Return the repositories with most findings of a rule, and the number of others."""
    places = sorted(one.places.items(), key=lambda each: (-each[1], each[0]))[:_MOST_PLACES]
    return [(name, _number(number)) for name, number in places], one.repositories - len(places)


def _number(number: int) -> str:
    return f"{number:,}"
