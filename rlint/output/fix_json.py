"""The result of fixing, as a JSON object for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rlint.output.findings_json import finding_entries, problem_entry
from rlint.output.parts import absolute_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlint.findings import Finding
    from rlint.fixing.fix_outcome import FixOutcome
    from rlint.output import ReportOptions
    from rlint.run_data import FixId, Report
    from rlint.trial.speed import Speed
    from rlint.trial.trial import LeftOut, Tried
    from rlint.trial.user_command import Ran


def render(outcome: FixOutcome, report: Report, options: ReportOptions, not_selected: Sequence[str]) -> str:
    """Return an object: `fixed`, `left`, `removed`, `files`, `errors`, `not_selected` and `verification`.

    Places of fixed findings are those before fixing, those of remaining ones refer to the current files.
    `not_selected` are the codes of rules that are off unless selected.
    """
    entries = finding_entries([left.finding for left in outcome.left], report, options)
    data = {
        "version": 1,
        "fixed": [_fix(name, finding) for name, finding in outcome.fixed],
        "left": [
            {
                **entry,
                **_heat(left.finding, options),
                "why": left.why.value,
                "detail": left.detail,
            }
            for entry, left in zip(entries, outcome.left, strict=True)
        ],
        "gone": finding_entries(outcome.removed, report, options),
        "files": [
            {
                "filename": absolute_name(file.name),
                "fixes": file.fixes,
                "written": file.problem is None,
                "problem": file.problem and file.problem.message,
            }
            for file in outcome.files
        ],
        "errors": [problem_entry(problem) for problem in report.problems],
        "not_selected": list(not_selected),
        "verification": outcome.tried and _trial(outcome.tried),
    }
    if options.heating is not None:
        from rlint.output import profile_report

        data["profile"] = profile_report.run_as_json(options.heating)
    return json.dumps(data, indent=2) + "\n"


def _heat(finding: Finding, options: ReportOptions) -> dict[str, Any]:
    """Return the profile data of a finding, if there is a profile."""
    if options.heating is None:
        return {}
    from rlint.output import profile_report

    return {"profile": profile_report.as_json(options.heating.findings.get(finding))}


def _place(name: FixId, finding: Finding) -> dict[str, Any]:
    if finding.cell is None:
        return {"location": {"row": name.line, "column": name.column}}
    cell, start = finding.cell, finding.shown_start
    where = {"row": start.line, "column": start.column}
    return {"cell": cell.index, "cell_id": cell.id, "location": where}


def _fix(name: FixId, finding: Finding) -> dict[str, Any]:
    assert finding.fix is not None
    return {
        "code": name.code,
        "name": finding.name,
        "message": finding.statement,
        "filename": absolute_name(name.path),
        **_place(name, finding),
        "fix": {
            "applicability": finding.fix.safety.value,
            "message": finding.fix.title,
            "reason": finding.fix.reason,
        },
    }


def _trial(tried: Tried) -> dict[str, Any]:
    return {
        "command": tried.command,
        "runs": tried.runs,
        "before": [_ran(ran) for ran in tried.before],
        "after": tried.after and _ran(tried.after),
        "left_out": [_left_out(culprits) for culprits in tried.left_out],
        "speed": tried.speed and _speed(tried.speed),
        "notices_broken_files": tried.noticed,
        "not_copied": [
            {"path": left.path, "linked": left.linked, "reason": left.reason} for left in tried.not_copied
        ],
    }


def _left_out(culprits: LeftOut) -> dict[str, Any]:
    return {
        "why": "fails" if culprits.speed is None else "slower",
        "fixes": [_fix(*pair) for pair in zip(culprits.ids, culprits.findings, strict=True)],
        "run": _ran(culprits.ran),
        "speed": culprits.speed and _speed(culprits.speed),
    }


def _ran(ran: Ran) -> dict[str, Any]:
    return {
        "exit_code": ran.exit_code,
        "seconds": round(ran.seconds, 3),
        "timed_out": ran.timed_out,
        "output": "\n".join(ran.tail(50)),
    }


def _speed(speed: Speed) -> dict[str, Any]:
    return {
        "before_seconds": [round(seconds, 3) for seconds in speed.before],
        "after_seconds": [round(seconds, 3) for seconds in speed.after],
        "ratio": round(speed.ratio, 4),
        "noise": round(speed.floor, 4),
        "slower": speed.is_slower,
    }
