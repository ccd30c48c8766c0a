"""Fixes that a configuration allows, and the safety that it assigns them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rlint.config.stated_versions import StatedVersion
from rlint.findings import Applicability, Confidence, Finding, Requirement
from rlint.frozen import frozen

UNFIXABLE = "the settings disable fixes of {code} (`fixable`, `unfixable`)"
TOO_NEW = "`{what}` needs {library} {version}, but {whose} is {stated} ({origin})"
NOT_YET = "{what} since {library} {version}, and {origin} states {stated}"
DEMOTED = "the settings mark fixes of {code} as unsafe (`extend-unsafe-fixes`)"


@frozen
class Fixability:
    """Codes of rules selected by `unfixable`, `extend-safe-fixes` and `extend-unsafe-fixes`, and the oldest
    versions of Python and libraries that the project supports.
    """

    unfixable: frozenset[str] = frozenset()
    safe: frozenset[str] = frozenset()
    unsafe: frozenset[str] = frozenset()
    versions: tuple[StatedVersion, ...] = ()

    def applied(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Return the findings with only the fixes that the settings allow, with the configured safety.

        A finding that depends on an assumption never gets a safe fix, whatever the settings.
        """
        return tuple(map(self._applied, findings))

    def _applied(self, finding: Finding) -> Finding:
        fix, code = finding.fix, finding.code
        if finding.slow_since is not None and finding.minor is None:
            finding = replace(finding, minor=self._not_yet(finding.slow_since))
        if fix is not None and (lack := self._lack(fix.needs)):
            return replace(finding, fix=None, no_fix=lack)
        if lack := self._lack(finding.advice_needs):
            finding = replace(finding, advice=f"{finding.advice} ({lack})")
        if fix is None:
            return finding
        if code in self.unfixable:
            return replace(finding, fix=None, no_fix=UNFIXABLE.format(code=code))
        if code in self.unsafe and fix.safety is Applicability.SAFE:
            reason = DEMOTED.format(code=code)
            return replace(finding, fix=replace(fix, safety=Applicability.UNSAFE, reason=reason))
        certain = finding.confidence is Confidence.CERTAIN
        if code in self.safe and fix.safety is Applicability.UNSAFE and certain:
            return replace(finding, fix=replace(fix, safety=Applicability.SAFE, reason=None))
        return finding

    def _not_yet(self, since: Requirement) -> str | None:
        """Return why what is found costs nothing yet: the project runs with an older version alone."""
        stated = self._older(since)
        if stated is None or not stated.is_exact:
            return None
        return NOT_YET.format(
            what=since.what,
            library=since.library,
            version=since.version,
            origin=stated.origin,
            stated=stated.version,
        )

    def _lack(self, needs: Iterable[Requirement]) -> str | None:
        """Return the part of code that is newer than the project's oldest version."""
        for need in needs:
            stated = self._older(need)
            if stated is not None:
                return TOO_NEW.format(
                    what=need.what,
                    library="Python" if need.library == "python" else need.library,
                    version=need.version,
                    whose=stated.option,
                    stated=stated.version,
                    origin=stated.origin,
                )
        return None

    def _older(self, need: Requirement) -> StatedVersion | None:
        """Return what states a version that is older than the required one."""
        stating = (one for one in self.versions if one.library == need.library and one.lacks(need.version))
        return next(stating, None)


AS_FOUND = Fixability()
"""Fixes stay as the rules create them."""
