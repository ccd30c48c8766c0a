"""The hint after the summary of `rlint check`: the command that measures the gain of the fixes."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from rlint.findings import ImpactLevel, loop_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rlint.cli.request import Request
    from rlint.findings import Finding
    from rlint.run_data import Report

_FORMATS = ("full", "grouped")
_WEIGHTS = {ImpactLevel.LOW: 1, ImpactLevel.UNKNOWN: 2, ImpactLevel.MEDIUM: 4, ImpactLevel.HIGH: 16}
"""How much findings of each impact count for the script to run."""


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
    """Return the script whose loops run most of the findings, the weighty ones before all; None if none is
    evident.
    """
    weights: Counter[str] = Counter()
    loops: defaultdict[str, set[int]] = defaultdict(set)
    for finding in findings:
        level = finding.impact.level if finding.impact is not None else ImpactLevel.UNKNOWN
        files = {finding.path} if finding.path.endswith(".py") else set()
        loop = loop_of(finding.chain[0]) if finding.chain else None
        if loop is not None:
            loops[loop.path].add(loop.line)
            files |= {loop.path} if finding.cell is None else set()
        for path in sorted(files):
            weights[path] += _WEIGHTS[level]
    for path, _ in weights.most_common():
        text = report.text_of(path)
        if _is_started(text) or any(_is_at_module_level(text, line) for line in loops[path]):
            return path
    return None


def _is_started(text: str) -> bool:
    return "__name__" in text and "__main__" in text


def _is_at_module_level(text: str, line: int) -> bool:
    """Whether a line stands in no function, so that the import of its file, or its start, runs it."""
    lines = text.splitlines()[:line]
    depth = _indent(lines[-1]) if lines else 0
    for above in reversed(lines):
        if above.strip() and _indent(above) < depth:
            depth = _indent(above)
            if above.lstrip().startswith(("def ", "async def ", "class ")):
                return False
    return depth == 0


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
