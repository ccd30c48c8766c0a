"""One JSON object per line and finding, as `json` has them: for programs that read while rlint writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rlint.output.findings_json import report_entries

if TYPE_CHECKING:
    from rlint.output import ReportOptions
    from rlint.run_data import Report


def render(report: Report, options: ReportOptions) -> str:
    """Return the findings, then what could not be done, with `code` null."""
    return "".join(json.dumps(entry) + "\n" for entry in report_entries(report, options))
