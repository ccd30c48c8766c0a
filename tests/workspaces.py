"""Programs on disk, to be checked and fixed in tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from rlint.engine import api
from rlint.findings import Finding
from rlint.run_data import FixReport, Report, Target


class Workspace:
    """A program on disk that the engine checks and fixes, as `rlint` does in that folder."""

    def __init__(self, folder: Path, files: Mapping[str, bytes]) -> None:
        self.folder = folder
        self.names = sorted(files)
        folder.mkdir(parents=True)
        (folder / "rlint.toml").touch()  # the top of a project: nothing above it counts
        for name, content in files.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)

    def _targets(self, codes: Iterable[str]) -> list[Target]:
        return [
            Target(source=None, path=self.folder / name, name=name, codes=frozenset(codes))
            for name in self.names
            if not name.endswith(".yaml")
        ]

    def check(self, codes: Iterable[str]) -> Report:
        """Check all files; none of them may be a problem."""
        report = api.check(self._targets(codes), jobs=1)
        assert report.problems == ()
        return report

    def findings(self, codes: Iterable[str]) -> tuple[Finding, ...]:
        """What `check` says."""
        return self.check(codes).findings

    def checked(self, codes: Iterable[str]) -> Checked:
        """The files as they are now, checked once: what is found in them, and how they are fixed."""
        return Checked(api.Fixer(self._targets(codes), jobs=1))

    def fix(self, codes: Iterable[str], *, unsafe: bool = True) -> tuple[Finding, ...]:
        """Fix all files on disk and return the fixed findings; no file may have a problem."""
        return self.checked(codes).fix(unsafe=unsafe)

    def content(self) -> dict[str, bytes]:
        """The files as they are now."""
        return {name: (self.folder / name).read_bytes() for name in self.names}


class Checked:
    """Files that are checked once and then fixed, as in `rlint fix`."""

    def __init__(self, fixer: api.Fixer) -> None:
        self._fixer = fixer

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The result of `check` for the original files."""
        return self._outcome(unsafe=False, allowed=frozenset()).report.findings

    def fix(self, *, unsafe: bool = True, only: str | None = None) -> tuple[Finding, ...]:
        """Fix all files on disk, by the fixes of one rule `only`, if it is given; return the fixed findings.
        No file may become a problem.
        """
        outcome = self._outcome(unsafe=unsafe, allowed=None if only is None else frozenset({only}))
        for change in outcome.changed:
            change.source.path.write_bytes(change.source.encode(change.text))
        return outcome.applied

    def _outcome(self, *, unsafe: bool, allowed: frozenset[str] | None) -> FixReport:
        outcome = self._fixer.fix(
            unsafe=unsafe, allowed=None if allowed is None else lambda fix: fix.code in allowed
        )
        assert outcome.report.problems == ()
        return outcome
