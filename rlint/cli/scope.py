"""The scope of a run: findings in changed lines (`--since`), and none that the project has accepted
(`--baseline`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from rlint.cli.console import Console, count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlint.cli.targets import CheckWork
    from rlint.findings import Finding
    from rlint.run_data import Report, Target, Wanted
    from rlint.source.changed_lines import ChangedLines
    from rlint.suppression.baseline import Baseline, BaselineCheck

_SHOWN = 20  # entries that are no longer needed, with `--verbose`


class CheckScope:
    """The files of a run, and which findings in them are in its scope."""

    def __init__(self, work: CheckWork, targets: Sequence[Target]) -> None:
        self._console = Console(work.request)
        self._reads_stdin = work.request.reads_stdin
        self._since = _changed_lines(work, targets)
        self._baseline = _baseline(work)
        self.targets: Sequence[Target] = targets
        """The files; unchanged ones are only read for what they show about others."""
        if self._since is not None:
            self.targets = [t if t.name in self._since else replace(t, codes=None) for t in targets]
            if targets and all(target.codes is None for target in self.targets):
                self._console.note(f"No Python file has changed since {work.request.since}.")
        self._first: dict[str, Counter[tuple[str, str]]] = {}

    @property
    def wanted(self) -> Wanted | None:
        """Selects what is fixed; None for everything."""
        return None if self._since is None and self._baseline is None else self._wanted

    def limited(self, report: Report) -> Report:
        """Return the report without findings outside of the run's scope."""
        findings: Sequence[Finding] = report.findings
        hidden: list[Finding] = []
        if self._baseline is not None:
            findings, hidden = self._baseline.split(
                findings, report.text_of, checked_of(self.targets, report)
            )
        if self._since is not None:
            findings = self._changed_only(findings, report)
            hidden = self._changed_only(hidden, report)
        from rlint.run_data import HiddenFindings

        reason = f"listed in {self._baseline.name}" if self._baseline is not None else ""
        known = [HiddenFindings(finding, in_source=False, reason=reason) for finding in hidden]
        return replace(report, findings=tuple(findings), hidden=(*report.hidden, *known))

    def remark(self, report: Report) -> None:
        """Print how much of a limited report the baseline hides, and which entries are no longer needed."""
        if self._baseline is None:
            return
        hidden = [each.finding for each in report.hidden if not each.in_source]
        name = self._baseline.name
        if hidden:
            self._console.note(f"{count(len(hidden), 'finding')} hidden by {name}.")
        if self._reads_stdin or self._since is not None:
            return
        unneeded = self._baseline.unneeded(hidden, report.text_of, checked_of(self.targets, report))
        if not unneeded:
            return
        number = sum(unneeded.values())
        are, them = ("is", "it") if number == 1 else ("are", "them")
        self._console.note(
            f"{count(number, 'finding')} in {name} {are} no longer found; "
            f"`rlint check --write-baseline` removes {them}."
        )
        for key in list(unneeded)[:_SHOWN]:
            inside = f" in {key.function}" if key.function else ""
            self._console.detail(f"  gone: {key.path}: {key.code}{inside}: {key.line}")
        if len(unneeded) > _SHOWN:
            self._console.detail(f"  and {len(unneeded) - _SHOWN} more")

    def _changed_only(self, findings: Sequence[Finding], report: Report) -> list[Finding]:
        assert self._since is not None
        kept = []
        for name in dict.fromkeys(finding.path for finding in findings):
            here = [finding for finding in findings if finding.path == name]
            kept += self._since.kept(name, report.text_of(name), here)
        return kept

    def _wanted(self, name: str, text: str, findings: Sequence[Finding]) -> Sequence[Finding]:
        if self._baseline is not None:
            findings = self._new(name, text, findings)
        return findings if self._since is None else self._since.kept(name, text, findings)

    def _new(self, name: str, text: str, findings: Sequence[Finding]) -> Sequence[Finding]:
        """Return the findings that the baseline does not hide, now or before earlier passes of fixing.

        A fix may change the line of a known finding, which looks new then. For each rule and function, as
        many new findings are not reported as known ones have disappeared.
        """
        assert self._baseline is not None
        from rlint.suppression.fingerprints import finding_keys

        checked = checked_of(self.targets)
        new, hidden = self._baseline.split(findings, lambda _: text, checked)
        groups = [(key.code, key.function) for key in finding_keys(hidden, lambda _: text)]
        first = self._first.setdefault(name, Counter(groups))
        missing = first - Counter(groups)
        if not missing:
            return new
        chosen = []
        for finding, key in zip(new, finding_keys(new, lambda _: text), strict=True):
            group = (key.code, key.function)
            if missing[group] > 0:
                missing[group] -= 1
            else:
                chosen.append(finding)
        return chosen


def write_baseline(work: CheckWork, targets: Sequence[Target], report: Report) -> int:
    """Write the findings of a report to the baseline; return the exit status."""
    from rlint.suppression.baseline import baseline_to_write

    console = Console(work.request)
    console.problems(report.problems)
    if report.problems and not report.checked:
        return 2
    path = work.baseline_path(to_write=True)
    assert path is not None
    old = baseline_to_write(path)
    new = old.updated(report.findings, report.text_of, checked_of(targets, report))
    new.write()
    number = sum(new.entries.values())
    removed = sum((Counter(old.entries) - Counter(new.entries)).values())
    more = f" ({count(removed, 'finding')} gone)" if removed else ""
    console.note(f"Wrote {count(number, 'finding')} to {new.name}{more}.")
    if number and work.baseline_path() != path:
        console.note(f"`--baseline {new.name}`, or `baseline` in the configuration, hides them.")
    return 1 if report.problems else 0


def checked_of(targets: Sequence[Target], report: Report | None = None) -> BaselineCheck:
    """Return which files were checked, and for which rules."""
    from rlint.suppression.baseline import BaselineCheck

    failed = {problem.path for problem in report.problems} if report is not None else set()
    return BaselineCheck(
        {target.name: target.path for target in targets},
        {t.path: t.codes for t in targets if t.codes is not None and t.name not in failed},
    )


def _changed_lines(work: CheckWork, targets: Sequence[Target]) -> ChangedLines | None:
    if work.request.since is None:
        return None
    from rlint.source.changed_lines import ChangedLines

    return ChangedLines(work.request.since, targets, work.resolver.root)


def _baseline(work: CheckWork) -> Baseline | None:
    path = work.baseline_path()
    if path is None or (work.request.write_baseline is not None and not path.exists()):
        return None
    from rlint.suppression.baseline import read_baseline

    return read_baseline(path)
