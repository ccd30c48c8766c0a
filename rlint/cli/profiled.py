"""`--profile FILE`: findings ranked by their share of a recorded run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rlint.findings import Heat

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rlint.cli.targets import CheckWork
    from rlint.findings import Finding
    from rlint.fixing.fix_outcome import FixOutcome
    from rlint.profiles.heated import Heated, Heating
    from rlint.profiles.heating import Heater
    from rlint.profiles.ratios import TimeRatio
    from rlint.run_data import Report, Target, Wanted


class Profiled:
    """A profile, as far as it concerns the files of a run.

    Findings with a smaller part of the run than `least` are left out, and are not fixed.
    """

    def __init__(self, heater: Heater, least: float) -> None:
        self._heater = heater
        self._least = least
        self._before: Report | None = None

    def heated(self, targets: Sequence[Target]) -> list[Target]:
        """Return the files, each with its functions that often ran in the profile."""
        return [replace(target, measured=self._heater.often(target.path)) for target in targets]

    def before_fixing(self, report: Report, wanted: Wanted | None) -> Wanted | None:
        """Store the findings before fixing, as the profile refers to them; select what is fixed."""
        self._before = report
        if self._least <= 0:
            return wanted
        heating = self._heater.heating(report.findings, {})
        cold = {finding for finding, heated in heating.findings.items() if self._is_cold(heated)}
        equal = {(finding.path, finding.code, finding.message) for finding in cold}

        def chosen(name: str, text: str, findings: Sequence[Finding]) -> Sequence[Finding]:
            if wanted is not None:
                findings = wanted(name, text, findings)
            source = report.source_of(name)
            if source is not None and source.text == text:
                return [finding for finding in findings if finding not in cold]
            return [each for each in findings if (each.path, each.code, each.message) not in equal]

        return chosen

    def ranked(self, report: Report) -> tuple[Report, Heating]:
        """Return a report with the most expensive findings first, with their profile data."""
        if self._before is None:
            return self._arranged(report, self._heater.heating(report.findings, time_ratios(report.findings)))
        from rlint.profiles.heating import recognised

        known = recognised(report.findings, self._before.findings)
        first = self._heater.heating(list(known.values()), time_ratios(self._before.findings))
        findings = {new: first.findings[old] for new, old in known.items()}
        return self._arranged(report, replace(first, findings=findings))

    def with_fixed(self, heating: Heating, outcome: FixOutcome) -> Heating:
        """Add the time that the applied fixes save."""
        assert self._before is not None
        places = {
            (finding.path, finding.start.line, finding.start.column, finding.code): finding
            for finding in self._before.findings
        }
        done = [places.get((name.path, name.line, name.column, name.code)) for name, _ in outcome.fixed]
        was = [finding for finding in done if finding is not None]
        saved, unmeasured = self._heater.saved(was, time_ratios(was))
        return replace(heating, fixed=saved, unmeasured_fixed=unmeasured + len(done) - len(was))

    def _is_cold(self, heated: Heated | None) -> bool:
        return heated is not None and heated.share is not None and heated.share.high < self._least

    def _arranged(self, report: Report, heating: Heating) -> tuple[Report, Heating]:
        """Leave out cold findings, sort the rest, and use measured heat where it is known."""
        shown: dict[Finding, Heated | None] = {}
        left_out = 0
        for finding in report.findings:
            heated = heating.findings.get(finding)
            if self._is_cold(heated):
                left_out += 1
            elif (
                self._before is None and heated is not None and heated.calls == 0 and heated.share is not None
            ):
                shown[replace(finding, heat=Heat.COLD, chain=())] = heated
            else:
                shown[finding] = heated
        order = sorted(shown, key=lambda finding: (*_rank(shown[finding]), finding.sort_key))
        known = {finding: heated for finding, heated in shown.items() if heated is not None}
        heating = replace(heating, findings={**heating.findings, **known}, left_out=left_out)
        return replace(report, findings=tuple(order)), heating


def profiled_of(work: CheckWork, targets: Sequence[Target]) -> Profiled | None:
    """Read the profile that the request names. Raises RlintError if it cannot be read."""
    request = work.request
    if request.profile is None:
        return None
    from rlint.profiles.heating import Heater
    from rlint.profiles.read import read

    profile = read(request.profile)
    paths = {target.name: target.path for target in targets}
    return Profiled(Heater(profile, str(request.profile), paths), (request.min_share or 0.0) / 100)


def _rank(heated: Heated | None) -> tuple[int, float, float]:
    """Return a sort key: known cost first, then findings that are not in the profile, then code that did not
    run.
    """
    if heated is None or heated.share is None:
        return 1, 0.0, 0.0
    saved = heated.saved.high if heated.saved is not None else 0.0
    return (0 if heated.share.high > 0 else 2), -heated.share.middle, -saved


def time_ratios(findings: Iterable[Finding]) -> Mapping[str, TimeRatio]:
    """Return the measured speedups of the findings' rules, by code."""
    from rlint.evidence import recorded
    from rlint.profiles.ratios import time_ratio
    from rlint.registry.catalogue import catalogue

    codes = {finding.code for finding in findings}
    return {entry.code: time_ratio(recorded.of(entry)) for entry in catalogue() if entry.code in codes}
