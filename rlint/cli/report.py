"""The output at the end of a run, and its exit status."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rlint.cli.console import Console, count, terminal_width
from rlint.cli.next_step import next_step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlint.cli.request import Request
    from rlint.cli.targets import CheckWork
    from rlint.findings import Finding, ImpactLevel
    from rlint.fixing.fix_outcome import FixOutcome
    from rlint.output import ReportOptions, RulePage
    from rlint.profiles.heated import Heating
    from rlint.run_data import FixReport, Report

CLEAN, FINDINGS, FAILED = 0, 1, 2


def show(
    work: CheckWork,
    report: Report,
    console: Console,
    *,
    outcome: FixOutcome | None = None,
    err: bool = False,
    heating: Heating | None = None,
) -> int:
    """Print a report and its summary, and return the exit status. `outcome` is the result of fixing,
    `heating` the profile data of the report.
    """
    from rlint.cli.rule_figures import rule_figures, with_impact
    from rlint.output import (
        FOR_HUMANS,
        RANKED,
        SHOWS_MEASURED,
        SHOWS_PAGES,
        ReportOptions,
        reporter,
        statistics,
    )

    request, settings = work.request, work.settings
    pages: dict[str, RulePage] = {}
    fixed = len(outcome.fixed) if outcome is not None else 0
    codes = {finding.code for finding in (*report.findings, *(each.finding for each in report.hidden))}
    kept = work.cache() if outcome is None else None  # the tree is otherwise clean after fixing
    needed = settings.output_format in SHOWS_MEASURED or settings.min_impact is not None
    figures = rule_figures(codes, kept) if needed else {}
    report = replace(report, findings=tuple(with_impact(report.findings, figures)))
    if request.proof is not None:
        from rlint.cli.proven import with_measured_impact

        report = replace(report, findings=with_measured_impact(work, report.findings))
    if settings.min_impact is not None:
        report = _of_impact(report, settings.min_impact)
    if settings.output_format in SHOWS_PAGES:
        from rlint.cli.rule_pages import pages_of

        pages = pages_of(codes)
    options = ReportOptions(
        unsafe_fixes=settings.unsafe_fixes,
        color=request.colored and not err,
        fixed=fixed,
        removed=len(outcome.removed) if outcome is not None else 0,
        new_fixed=outcome.new_fixed if outcome is not None else 0,
        new_left=outcome.new_left if outcome is not None else 0,
        summary=False,
        width=terminal_width(err=err),
        heating=heating,
        fold=not request.no_fold
        and heating is None
        and request.proof is None
        and settings.min_impact is None,
        measured={code: each.line for code, each in figures.items() if each.line},
        pages=pages,
        rule_url=settings.rule_url,
    )
    console.problems(report.problems)
    for_people = settings.output_format in FOR_HUMANS
    # Users read problems on standard error; other programs find them in the report.
    shown = replace(report, problems=()) if for_people else report
    if settings.output_format in RANKED and heating is None and request.proof is None:
        from rlint.output.ranking import ranked

        shown = replace(shown, findings=tuple(ranked(shown.findings)))
    if request.statistics:
        text = statistics(shown, settings.output_format, options)
    elif outcome is not None and request.command == "fix" and settings.output_format == "json":
        from rlint.output.fix_json import render
        from rlint.registry.catalogue import catalogue

        not_selected = [entry.code for entry in catalogue() if entry.opt_in]
        text = render(outcome, shown, options, [code for code in not_selected if code not in settings.codes])
    else:
        text = reporter(settings.output_format)(shown, options)
    if for_people and not request.quiet:
        text += _in_all(report, options, outcome)
        if not request.statistics:
            text += next_step(request, settings.output_format, shown)
    console.report(text, err=err)
    return _status(request, report, fixed)


def _of_impact(report: Report, least: ImpactLevel) -> Report:
    """Return a report without the findings that are known to have less impact."""
    from rlint.output.ranking import is_at_least

    return replace(report, findings=tuple(each for each in report.findings if is_at_least(each, least)))


def _in_all(report: Report, options: ReportOptions, outcome: FixOutcome | None) -> str:
    """Return the summary lines: number of findings, results of fixing, and the profile of the run."""
    from rlint.output.counts import summary

    text = summary(report, options, fixable=outcome is None)
    if outcome is not None:
        from rlint.output.fix_summary import render as fix_summary

        text += fix_summary(outcome)
    if options.heating is not None:
        from rlint.output import profile_report

        text = (
            profile_report.section(options.heating, options)
            + text
            + profile_report.sums(options.heating, options)
        )
    return text


def show_diff(work: CheckWork, fixed: FixReport, outcome: FixOutcome, console: Console) -> int:
    """Print the diff of the fixes, and return the exit status. `outcome` is their result."""
    from rlint.output import diff

    console.problems(fixed.report.problems)
    console.report(diff(fixed.changed, color=work.request.colored))
    if fixed.applied:
        console.note(_would_fix(outcome))
    elif not fixed.report.problems:
        console.note("Nothing to fix.")
    if work.request.exit_zero and fixed.report.checked:
        return CLEAN
    return FINDINGS if fixed.changed else _status(work.request, replace(fixed.report, findings=()), 0)


def _would_fix(outcome: FixOutcome) -> str:
    shown = [left for left in outcome.left if not left.is_hidden]
    fixed = len(outcome.fixed) - outcome.new_fixed
    found = fixed + len(outcome.removed) + len(shown) - outcome.new_left
    removed = f"; {len(outcome.removed)} more would disappear with them" if outcome.removed else ""
    return f"Would fix {fixed} of {count(found, 'finding')}{removed}."


def _status(request: Request, report: Report, fixed: int) -> int:
    if report.problems and not report.checked:
        return FAILED
    if request.exit_zero:
        return CLEAN
    if report.findings or report.problems or (fixed and request.exit_non_zero_on_fix):
        return FINDINGS
    return CLEAN


def list_fixes(work: CheckWork, applied: Sequence[Finding], console: Console) -> None:
    """Print which files were fixed, and how, if requested."""
    if not (work.request.show_fixes or work.request.verbose):
        return
    places: dict[str, list[Finding]] = {}
    for finding in applied:
        places.setdefault(finding.path, []).append(finding)
    for path, findings in sorted(places.items()):
        codes = sorted({(finding.code, finding.name) for finding in findings})
        for code, name in codes:
            number = sum(1 for finding in findings if finding.code == code)
            console.note(f"fixed {path}: {number} × {code} ({name})")
