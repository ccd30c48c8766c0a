"""A fixer whose fixes are given as texts: proving knows no rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from rlint.findings import Applicability, Edit, Finding, Fix, Position
from rlint.run_data import Changed, FixId, FixReport, Report
from rlint.source.files import Source, read_source


class TextFixer:
    """Replaces texts of one file. The names of fixes are their codes."""

    def __init__(self, path: Path, fixes: Mapping[str, tuple[str, str]]) -> None:
        source = read_source(path, path.name)
        assert isinstance(source, Source)
        self.source = source
        self.findings: dict[FixId, Finding] = {}
        for code, (old, new) in fixes.items():
            start = source.text.index(old)
            line = source.text.count("\n", 0, start) + 1
            edit = Edit(start, start + len(old), new)
            fix = Fix("Change it", Applicability.UNSAFE, (edit,), "a test")
            place = Position(line, 1)
            found = Finding(code, code, f"it is {code}", path.name, place, place, line, line, fix=fix)
            self.findings[FixId(path.name, line, 1, code)] = found

    def fix(
        self,
        *,
        unsafe: bool,  # noqa: ARG002 - as the engine's fixer is called
        allowed: Callable[[FixId], bool] = lambda _: True,
    ) -> FixReport:
        """Apply the allowed fixes."""
        chosen = [(name, found) for name, found in self.findings.items() if allowed(name)]
        text = self.source.text
        for _, found in sorted(chosen, key=lambda pair: -pair[1].fix.edits[0].start):  # type: ignore[union-attr]
            assert found.fix is not None
            (edit,) = found.fix.edits
            text = text[: edit.start] + edit.text + text[edit.end :]
        applied = tuple(found for _, found in chosen)
        changed = (Changed(self.source, text, applied),) if applied else ()
        return FixReport(Report((), (), 1), applied, changed, tuple(name for name, _ in chosen))
