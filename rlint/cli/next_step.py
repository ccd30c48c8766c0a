"""The hint after the summary of `rlint check`: the command that measures the gain of the fixes."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rlint.findings import loop_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rlint.cli.request import Request
    from rlint.findings import Finding
    from rlint.run_data import Report

_FORMATS = ("full", "grouped")


def next_step(request: Request, output_format: str, report: Report) -> str:
    """Return the hint as a line of its own; empty in formats for programs and for standard input, and if no
    finding has a fix.
    """
    fixable = [finding for finding in report.findings if finding.fix is not None]
    of_use = request.command == "check" and output_format in _FORMATS and not request.reads_stdin
    if not (fixable and of_use) or request.proof is not None:
        return ""
    script = _script(fixable, report)
    command = f"python {shlex.quote(script)}" if script is not None else "python SCRIPT"
    return f"See what a run would gain: `rlint prove -- {command}`.\n"


def _script(findings: Iterable[Finding], report: Report) -> str | None:
    """Return the script whose loop runs the first of the findings, if one is evident."""
    for path in dict.fromkeys(_starts(findings)):
        text = report.text_of(path)
        if "__name__" in text and "__main__" in text:
            return path
    return None


def _starts(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield the files of the outermost loops around the findings, then those of the findings."""
    for finding in findings:
        loop = loop_of(finding.chain[0]) if finding.chain else None
        if loop is not None and finding.cell is None:
            yield loop.path
        if finding.path.endswith(".py"):
            yield finding.path
