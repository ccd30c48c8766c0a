"""One JSON object per line and finding, in the format of `json`: for programs that read while rlint
writes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rlint.output.findings_json import report_entries

if TYPE_CHECKING:
    from rlint.output import ReportOptions
    from rlint.run_data import Report


def render(report: Report, options: ReportOptions) -> str:
    """Return the findings, then the problems, with `code` null."""
    return "".join(json.dumps(entry) + "\n" for entry in report_entries(report, options))
