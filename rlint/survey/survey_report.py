"""Results of a survey for users: its page, and the lines on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rlint import __version__
from rlint.output.counts import count
from rlint.output.survey_page import SurveyReport, render, repositories
from rlint.survey.result_store import ResultStore
from rlint.survey.run_records import RunRecord, date_of, folder_of
from rlint.survey.run_shard import ShardTally
from rlint.survey.survey_run import SurveyedResult, counted

_MOST_RULES = 15
PAGE = "index.html"


def page_of(
    found: ShardTally, date: str, before: RunRecord | None, settings: str, measured: Mapping[str, str]
) -> str:
    """Return the page of a run."""
    remarks = []
    if before is not None and before.version != __version__:
        remarks.append(f"The last run used rlint {before.version}, which may explain changes.")
    if before is not None and before.settings != settings:
        remarks.append("The last run had other settings, which may explain changes.")
    report = SurveyReport(
        date, found.rules, found.repositories, measured, date_of(before.name) if before else "", remarks
    )
    return render(report)


def summary(
    found: ShardTally,
    results: Sequence[SurveyedResult],
    before: RunRecord | None,
    store: ResultStore,
    name: str,
) -> Iterator[str]:
    """Yield the lines that summarise a run's findings, and where they are stored."""
    ordered = sorted(found.rules.items(), key=lambda each: (-each[1].findings, each[0]))
    for code, one in ordered[:_MOST_RULES]:
        change = f"  +{one.new} -{one.removed}" if before is not None and (one.new or one.removed) else ""
        where = repositories(one.repositories)
        yield f"{one.findings:>8,}  {code} {one.name}  ({where}){change}"
    if len(ordered) > _MOST_RULES:
        yield f"          and {len(ordered) - _MOST_RULES} more rules"
    number = sum(one.findings for one in found.rules.values())
    numbers = counted(results)
    yield (
        f"{count(number, 'finding')} in {repositories(len(results) - numbers['left'])}: "
        f"{numbers['checked']:,} checked now, {numbers['kept']:,} unchanged, {numbers['left']:,} not checked"
    )
    yield f"findings: {store.address(folder_of(name))}/findings-*.parquet"
    yield f"page:     {store.address(folder_of(name))}/{PAGE}"
