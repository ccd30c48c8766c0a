"""Why a finding is not shown: a comment, the baseline, the settings."""

from __future__ import annotations

from pathlib import Path

from rlint.config.settings import Settings
from rlint.errors import RlintError
from rlint.findings import Finding
from rlint.frozen import frozen
from rlint.registry import catalogue
from rlint.suppression.baseline import BaselineCheck, read_baseline
from rlint.suppression.comments import read_layout
from rlint.suppression.directives import read_directives


@frozen
class Hiding:
    """The reasons for hidden findings in one file: its settings, its comments, and a baseline if there is
    one.
    """

    settings: Settings
    path: Path
    text: str
    baseline: Path | None = None

    def why_unselected(self, code: str) -> str | None:
        """Return why a rule is not selected for the file; None if it is."""
        if code in self.settings.codes_for(self.path):
            return None
        for ignore in self.settings.per_file_ignores:
            if code in ignore.codes and code in self.settings.codes and ignore.match(str(self.path)):
                return f"`per-file-ignores` disables it here (`{ignore.pattern}`)"
        entry = next((each for each in catalogue.catalogue() if each.code == code), None)
        if entry is not None and entry.opt_in:
            return f"it is off unless it is selected (`--extend-select {code}`)"
        return f"the settings do not select it ({self.settings.origins['select'][1]})"

    def why_hidden(self, finding: Finding) -> str | None:
        """Return why a finding is hidden; None if it is not."""
        layout = read_layout(self.text)
        if layout is not None:
            found = read_directives(layout)
            if found.skip_file:
                return "`# rlint: skip-file` hides all findings of the file"
            for request in found.requests:
                if request.hides(finding):
                    return f"`{request.comment.text}` hides it (line {request.comment.line})"
        if finding.confidence < self.settings.confidence:
            queries = self.settings.confidence
            return f'its confidence is `{finding.confidence}`, and `confidence = "{queries}"` excludes it'
        if self.baseline is not None and self._is_known(finding, self.baseline):
            return f"it is listed in the baseline ({self.baseline.name})"
        return None

    def _is_known(self, finding: Finding, baseline: Path) -> bool:
        checked = BaselineCheck({finding.path: self.path}, {self.path: frozenset({finding.code})})
        try:
            return bool(read_baseline(baseline).split([finding], lambda _: self.text, checked)[1])
        except RlintError:
            return False
