"""Shares of findings in a profiled run, and the time that fixing them would save."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rlint.findings import Applicability, Finding, Heat
from rlint.profiles import gains, hot
from rlint.profiles.heated import Basis, GainInterval, Heated, Heating
from rlint.profiles.located import Located
from rlint.profiles.profile_model import Claim, Profile
from rlint.profiles.ratios import Known, TimeRatio

_SET_UP = 0.01
"""Code that runs once and takes less of the run than this only sets up an object, which costs time
elsewhere.
"""
_MATTERS = 0.01
"""A function that takes less of the run than this is not made hot by the number of its calls."""
_MUCH_IMPORTING = 0.25
_FEW, _MANY = 100, 1000
"""Numbers of calls in a profiled run that suggest once per episode, and once per step."""
_NOTHING = GainInterval(0.0, 0.0)


class Heater:
    """A profile mapped to the files of a run.

    `paths` are the files by their names in findings.
    """

    def __init__(self, profile: Profile, shown: str, paths: Mapping[str, Path]) -> None:
        self.profile = profile
        self._shown = shown
        self._paths = paths
        self.located = Located(profile, list(paths.values()))

    def often(self, path: Path) -> tuple[tuple[str, Heat, str], ...]:
        """Return which functions of a file were called often and matter: their qualified names, their heat,
        and why. Empty if calls are not counted.
        """
        file = self.located.files.get(path)
        if file is None or not self.profile.counts_calls:
            return ()
        found = []
        for definition, frames in file.frames.items():
            calls = self.profile.calls(frames) or 0
            if calls >= _FEW and self.profile.inclusive(frames) >= _MATTERS * self.profile.total:
                level = Heat.HOT if calls >= _MANY else Heat.WARM
                found.append((definition.qualname, level, f"called {calls:,} times in the profiled run"))
        return tuple(sorted(found))

    def heating(self, findings: Sequence[Finding], ratios: Mapping[str, TimeRatio]) -> Heating:
        """Return the profile data of findings. `ratios` are those of their rules, by code."""
        heated: dict[Finding, Heated] = {}
        claims: dict[Finding, Claim] = {}
        for finding in findings:
            ratio = ratios.get(finding.code, TimeRatio(Known.NOT))
            heated[finding], claim = self._heated(finding, ratio)
            if claim is not None:
                claims[finding] = claim
        fixable = [finding for finding in findings if finding.fix is not None]
        safe = [finding for finding in fixable if finding.fix and finding.fix.safety is Applicability.SAFE]
        names = {path: name for name, path in self._paths.items()}
        return Heating(
            self._shown,
            self.profile.format,
            self.profile.total,
            self.profile.unit,
            self.profile.threads,
            heated,
            self._saved(safe, claims, ratios),
            self._saved(fixable, claims, ratios),
            _unmeasured(safe, heated),
            _unmeasured(fixable, heated),
            hot=hot.unexplained(self.located, names, list(claims.values())),
            notes=tuple(self._notes()),
        )

    def saved(self, fixed: Sequence[Finding], ratios: Mapping[str, TimeRatio]) -> tuple[GainInterval, int]:
        """Return the time that the fixes of these findings save, and how many of them have no known gain."""
        heated: dict[Finding, Heated] = {}
        claims = {}
        for finding in fixed:
            heated[finding], claim = self._heated(finding, ratios.get(finding.code, TimeRatio(Known.NOT)))
            if claim is not None:
                claims[finding] = claim
        return self._saved(fixed, claims, ratios), _unmeasured(fixed, heated)

    def _heated(self, finding: Finding, ratio: TimeRatio) -> tuple[Heated, Claim | None]:
        path = self._paths.get(finding.path)
        source = self.located.source(path) if path is not None else None
        factor = GainInterval(ratio.low, ratio.high) if ratio.known is Known.MEASURED else None

        def plain(basis: Basis, share: GainInterval | None, calls: int | None = None) -> Heated:
            saved = _NOTHING if share == _NOTHING and factor is not None else None
            return Heated(basis, share, calls, ratio.known, factor, saved, ratio.claims)

        if path is None or source is None:
            return plain(Basis.UNKNOWN, None), None
        if path not in self.located.files and self._is_ambiguous(path):
            return plain(Basis.UNKNOWN, None), None
        place = source.place_of(finding)
        calls = self.located.calls(path, place.definition)
        claim = self.located.claim(path, place)
        share = gains.share(self.profile, claim) if claim is not None else _NOTHING
        if finding.heat is Heat.COLD and share.high < _SET_UP:
            return plain(Basis.OTHER_PLACE, None, calls), None
        if claim is None or share.high <= 0:
            return plain(Basis.NOT_SEEN, _NOTHING, calls), None
        basis = Basis.FUNCTION if place.whole else Basis.CALLS if claim.inside else Basis.LINES
        saved = None
        if factor is not None:
            saved = gains.saved(self.profile, [gains.Stake(claim, factor.low, factor.high)])
        return Heated(basis, share, calls, ratio.known, factor, saved, ratio.claims), claim

    def _saved(
        self, findings: Iterable[Finding], claims: Mapping[Finding, Claim], ratios: Mapping[str, TimeRatio]
    ) -> GainInterval:
        stakes = [
            gains.Stake(claims[finding], ratio.low, ratio.high)
            for finding in findings
            if finding in claims
            for ratio in [ratios.get(finding.code)]
            if ratio is not None and ratio.known is Known.MEASURED
        ]
        return gains.saved(self.profile, stakes)

    def _is_ambiguous(self, path: Path) -> bool:
        return any(file.replace("\\", "/").endswith(path.name) for file in self.located.ambiguous)

    def _notes(self) -> Iterable[str]:
        if self._paths and not self.located.files:
            yield "no checked file occurs in the profile; it may have been recorded from another program"
        if self.located.ambiguous:
            listed = ", ".join(sorted(self.located.ambiguous)[:3])
            others = len(self.located.ambiguous) - 3
            yield (
                f"matches several checked files and is ignored: {listed}"
                + (f" and {others} more" if others > 0 else "")
            )
        names = {path: name for name, path in self._paths.items()}
        moved = sorted(names[path] for path, file in self.located.files.items() if file.moved)
        if moved:
            more = f" and {len(moved) - 3} more" if len(moved) > 3 else ""
            names_of_moved = ", ".join(moved[:3])
            yield f"changed since it was profiled, functions are matched by name: {names_of_moved}{more}"
        part = self.profile.covered([hot.imports(self.profile)], upper=False) / self.profile.total
        if part >= _MUCH_IMPORTING:
            yield f"{part:.0%} of the run was spent importing modules; profile a longer run"
        if self.profile.threads > 1:
            yield f"shares are of the total time of {self.profile.threads} threads and processes"


def recognised(findings: Iterable[Finding], known: Iterable[Finding]) -> dict[Finding, Finding]:
    """Return, for findings in an edited text, the earlier ones with the same file, code and message, in
    order; new ones are left out.
    """
    before: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for finding in sorted(known, key=lambda each: each.sort_key, reverse=True):
        before[finding.path, finding.code, finding.message].append(finding)
    found = {}
    for finding in sorted(findings, key=lambda each: each.sort_key):
        if old := before.get((finding.path, finding.code, finding.message)):
            found[finding] = old.pop()
    return found


def _unmeasured(findings: Iterable[Finding], heated: Mapping[Finding, Heated]) -> int:
    """Return the number of fixes without a known gain whose code ran."""
    return sum(1 for finding in findings if finding in heated and heated[finding].saved is None)
