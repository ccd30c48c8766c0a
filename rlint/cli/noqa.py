"""`rlint check --add-noqa`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rlint.cli.console import Console, count

if TYPE_CHECKING:
    from rlint.cli.scope import CheckScope
    from rlint.cli.targets import CheckWork
    from rlint.findings import Finding, Problem
    from rlint.run_data import Report


def add_comments(work: CheckWork, scope: CheckScope, console: Console) -> int:
    """Suppress every finding by a comment of its own; return the exit status."""
    from rlint.engine import api

    report = scope.limited(
        api.check(scope.targets, jobs=work.settings.jobs, confidence=work.settings.confidence)
    )
    problems = [*work.problems, *report.problems]
    added = left = 0
    for name, group in groupby(report.findings, key=lambda finding: finding.path):
        lines, missed, problem = _add_to(report, name, list(group))
        added += lines
        left += missed
        if problem is not None:
            problems.append(problem)
    console.problems(problems)
    console.note(f"Added {count(added, '`noqa` comment')}.")
    if left:
        console.note(f"{count(left, 'finding')} could not be suppressed.")
    if problems and not report.checked:
        return 2
    return 1 if problems or left else 0


def _add_to(report: Report, name: str, findings: list[Finding]) -> tuple[int, int, Problem | None]:
    """Add comments to one file; return the changed lines, the remaining findings, and problems."""
    from rlint.fixing.apply_fixes import write
    from rlint.suppression.suppressions import add_noqa, parse

    source = report.source_of(name)
    if source is None:
        return 0, len(findings), None
    text = add_noqa(source.text, findings)
    hidden = parse(text)
    left = sum(1 for finding in findings if not hidden.hides(finding))
    if text == source.text:
        return 0, left, None
    problem = write(source, text)
    if problem is not None:
        return 0, len(findings), problem
    old, new = source.text.splitlines(), text.splitlines()
    return sum(1 for before, after in zip(old, new, strict=True) if before != after), left, None
