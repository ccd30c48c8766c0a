"""Parts that the formats for users share: numbers with nouns, the mark of fixable findings, the last
lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.findings import Applicability

if TYPE_CHECKING:
    from rlint.findings import Finding
    from rlint.output import ReportOptions
    from rlint.run_data import Report


def count(number: int, noun: str, several: str | None = None) -> str:
    """Return a number with its noun: "1 file", "2 files"."""
    return f"{number} {noun}" if number == 1 else f"{number} {several or noun + 's'}"


def is_fixable(finding: Finding, options: ReportOptions) -> bool:
    """Whether `rlint fix` with these options fixes the finding."""
    return finding.fix is not None and (options.unsafe_fixes or finding.fix.safety is Applicability.SAFE)


def summary(report: Report, options: ReportOptions, *, fixable: bool = True) -> str:
    """Return the number of findings and, with `fixable`, the number that can be fixed, in one or two
    lines.
    """
    remaining = len(report.findings)
    lines: list[str] = []
    if options.fixed:
        lines += _after_fixing(remaining, options)
    elif remaining:
        lines.append(f"Found {count(remaining, 'finding')}.")
    elif not report.problems:
        lines.append(_nothing_found(report))
    if report.problems:
        lines.append(f"Found {count(len(report.problems), 'error')}.")
    if fixable:
        lines += _fixable(report, options)
    return "".join(line + "\n" for line in lines)


def _after_fixing(remaining: int, options: ReportOptions) -> list[str]:
    """Return what happened to the initial findings, and the number of new ones."""
    fixed, left = options.fixed - options.new_fixed, remaining - options.new_left
    removed = f", {options.removed} gone with them" if options.removed else ""
    found = count(fixed + options.removed + left, "finding")
    lines = [f"Found {found} ({fixed} fixed{removed}, {left} remaining)."]
    if new := options.new_fixed + options.new_left:
        brought = count(new, "new finding")
        lines.append(
            f"The fixes exposed {brought} ({options.new_fixed} fixed, {options.new_left} remaining)."
        )
    return lines


def _nothing_found(report: Report) -> str:
    if not report.checked:
        return "No Python files to check."
    if report.are_tests:
        return "Nothing to check: tests and documentation are parsed but not checked."
    return "All checks passed!"


def _fixable(report: Report, options: ReportOptions) -> list[str]:
    """Return how many findings have a fix, by the commands that apply them."""
    safe = sum(
        finding.fix is not None and finding.fix.safety is Applicability.SAFE for finding in report.findings
    )
    unsafe = sum(finding.fix is not None for finding in report.findings) - safe
    said = []
    if safe:
        said.append(f"{count(safe, 'safe fix', 'safe fixes')}: `rlint fix`")
    if unsafe:
        said.append(f"{count(unsafe, 'unsafe fix', 'unsafe fixes')}: `rlint fix --unsafe-fixes`")
    mark = "[*] " if safe or (unsafe and options.unsafe_fixes) else ""
    return [f"{mark}{'; '.join(said)}."] if said else []
