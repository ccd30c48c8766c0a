"""The number of findings of each rule."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rlint.frozen import mutable
from rlint.output.counts import is_fixable, summary
from rlint.output.terminal import Paint, TextStyle

if TYPE_CHECKING:
    from rlint.output import ReportOptions
    from rlint.run_data import Report


@mutable
class _Tally:
    code: str | None
    name: str
    count: int = 0
    fixable: int = 0


def render(report: Report, options: ReportOptions, *, as_json: bool) -> str:
    """Return the rules with most findings first, as a table or as JSON."""
    tallies: dict[str | None, _Tally] = {}
    for finding in report.findings:
        tally = tallies.setdefault(finding.code, _Tally(finding.code, finding.name))
        tally.count += 1
        tally.fixable += is_fixable(finding, options)
    if report.problems:
        tallies[None] = _Tally(None, "invalid-file", len(report.problems))
    ordered = sorted(tallies.values(), key=lambda tally: (-tally.count, tally.code or ""))
    if as_json:
        return json.dumps([_entry(tally) for tally in ordered], indent=2) + "\n"
    return _table(ordered, Paint(color=options.color)) + (summary(report, options) if options.summary else "")


def _entry(tally: _Tally) -> dict[str, object]:
    return {
        "code": tally.code,
        "name": tally.name,
        "count": tally.count,
        "fixable": tally.fixable == tally.count,
        "fixable_count": tally.fixable,
    }


def _table(tallies: list[_Tally], paint: Paint) -> str:
    digits = max((len(str(tally.count)) for tally in tallies), default=0)
    letters = max((len(tally.code or "") for tally in tallies), default=0)
    rows = []
    for tally in tallies:
        # All of them, some of them, none of them.
        mark = "[*]" if tally.fixable == tally.count else "[-]" if tally.fixable else "[ ]"
        code = paint(TextStyle.ALERT, f"{tally.code or '':<{letters}}")
        rows.append(f"{tally.count:>{digits}}\t{code}\t{paint(TextStyle.MARK, mark)} {tally.name}\n")
    return "".join(rows)
