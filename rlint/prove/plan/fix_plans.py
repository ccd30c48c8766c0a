"""The result of each fix in the program, and the regions by which it can be proven."""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rlint.engine.api import Fixer
from rlint.findings import Finding
from rlint.prove.plan.cells import is_pure
from rlint.prove.plan.changed_code import BlockPlace, changes
from rlint.prove.plan.made_objects import MadeObjects, made_objects
from rlint.prove.plan.regions import Region, RegionUse, candidates
from rlint.run_data import Changed, FixId, FixReport
from rlint.source.files import NOTEBOOK

_MOST_CANDIDATES = 5
_MOST_TRIED = 6


@dataclass(frozen=True)
class ChangedPlace:
    """One place that a fix changes, with the regions around it, the best first."""

    path: str
    uses: tuple[RegionUse, ...]


@dataclass
class FixPlan:
    """A fix, or several together: the resulting texts, and the changes."""

    ids: tuple[FixId, ...]
    findings: tuple[Finding, ...]
    texts: dict[str, str] = field(default_factory=dict)
    """Texts of changed files, by absolute path."""
    places: list[ChangedPlace] = field(default_factory=list)
    made: list[MadeObjects] = field(default_factory=list)
    """Classes whose constructors it changes together with other code."""
    needs: tuple[FixId, ...] = ()
    """Fixes that must be applied before it, and are in its texts."""
    problem: str = ""
    """Why it cannot be proven, whatever is recorded."""


@dataclass
class ProofPlan:
    """All fixes of a program, and what is recorded for them."""

    single: list[FixPlan]
    together: FixPlan
    report: FixReport
    before: dict[str, str]
    """The original texts of changed files, by absolute path."""
    digests: dict[str, str]
    """Digests of their bytes."""
    regions: dict[int, dict[str, Any]]
    """The settings of the recorder of each region, by number."""
    numbers: RegionNumbers

    def files(self) -> dict[str, dict[str, Any]]:
        """Return the instructions for recorders, by file."""
        found: dict[str, dict[str, Any]] = {}
        for region in self.regions.values():
            path = os.path.realpath(region["path"])
            file = found.setdefault(path, {"digest": self.digests[region["path"]], "regions": []})
            if path.endswith(NOTEBOOK):
                file["text"] = self.before[region["path"]]
            file["regions"].append(region)
        return found

    def combined(self, fixer: Fixer, names: frozenset[FixId]) -> FixPlan:
        """Return a combination of fixes, by the regions that were recorded."""
        fixed = fixer.fix(unsafe=True, allowed=names.__contains__)
        plan = FixPlan(fixed.ids, fixed.applied)
        _complete(plan, fixed.changed, self.before, self.numbers)
        return plan


def make_plan(fixer: Fixer, tell: Callable[[str], None] = lambda _: None) -> ProofPlan:
    """Determine what each fix changes, safe and unsafe ones alike, each alone and all together."""
    report = fixer.fix(unsafe=True)
    before = {_path(each): each.source.text for each in report.changed}
    digests = {_path(each): hashlib.sha256(each.source.raw).hexdigest() for each in report.changed}
    numbers = RegionNumbers()
    together = FixPlan(report.ids, report.applied)
    _complete(together, report.changed, before, numbers)
    single = []
    for number, (name, finding) in enumerate(zip(report.ids, report.applied, strict=True)):
        tell(f"preparing fix {number + 1} of {len(report.ids)}")
        alone = fixer.fix(unsafe=True, allowed=frozenset({name}).__contains__)
        plan = FixPlan((name,), (finding,))
        if name not in alone.ids:
            alone = _with_needed(fixer, name, report) or alone
        if name in alone.ids:
            plan.needs = tuple(other for other in alone.ids if other != name)
            _complete(plan, alone.changed, before, numbers)
        else:
            plan.problem = "it depends on several other fixes"
        single.append(plan)
    return ProofPlan(
        single, together, report, before, digests, numbers.recorder_instructions(before), numbers
    )


def _with_needed(fixer: Fixer, name: FixId, report: FixReport) -> FixReport | None:
    """Apply it together with the nearest other fix that makes it appear: without one, it is not found."""
    others = [each for each in report.ids if each.path == name.path and each != name]
    for other in sorted(others, key=lambda each: abs(each.line - name.line))[:_MOST_TRIED]:
        fixed = fixer.fix(unsafe=True, allowed=frozenset({name, other}).__contains__)
        if name in fixed.ids:
            return fixed
    return None


def _path(changed: Changed) -> str:
    return os.path.abspath(changed.source.path)


def _complete(
    plan: FixPlan, changed: Iterable[Changed], before: Mapping[str, str], numbers: RegionNumbers
) -> None:
    """Add the result of a fix in each file, and the regions that contain the changes."""
    for each in changed:
        path = _path(each)
        plan.texts[path] = each.text
        try:
            ours, counterpart = ast.parse(before[path]), ast.parse(each.text)
        except (SyntaxError, ValueError, RecursionError) as error:
            plan.problem = f"this Python cannot parse {path}: {error}"
            continue
        found = [change for change in changes(ours, counterpart) if not change.support]
        for change in found:
            regions = candidates(change, ours, counterpart)
            if path.endswith(NOTEBOOK):
                regions = [one for one in regions if is_pure(ours, one.before)]
                if not regions:
                    plan.problem = plan.problem or "it changes code with lines that only IPython can parse"
                    continue
            usable = [one for one in regions if not one.refusal][:_MOST_CANDIDATES]
            if usable:
                plan.places.append(ChangedPlace(path, numbers.given(path, usable)))
            elif regions:
                plan.problem = plan.problem or regions[0].refusal
            else:
                plan.problem = plan.problem or "it changes code that runs only when its module is loaded"
        uses = [use for place in plan.places if place.path == path for use in place.uses if use.region.whole]
        for made in made_objects(path, found, uses, ours, counterpart):
            plan.made.append(made)
            numbers.make(made)
    if not plan.places and not plan.problem:
        plan.problem = "it changes code that runs only when its module is loaded"


class RegionNumbers:
    """Numbers of regions: statements by which several fixes are proven are recorded once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, BlockPlace], int] = {}
        self._names: dict[int, set[str]] = {}
        self._live: dict[int, set[str]] = {}
        self._better: dict[int, set[int] | None] = {}
        self._regions: dict[int, tuple[str, Region]] = {}
        self._made: dict[int, tuple[int, str]] = {}

    def make(self, made: MadeObjects) -> None:
        """Record the calls of changed methods from the constructor of their objects on."""
        for number in made.regions:
            self._made.setdefault(number, (made.constructor, made.instance))

    def given(self, path: str, regions: Sequence[Region]) -> tuple[RegionUse, ...]:
        """Return the numbers of the regions of one change, the best first."""
        uses: list[RegionUse] = []
        for region in regions:
            number = self._known.setdefault((path, region.before), len(self._known))
            self._regions.setdefault(number, (path, region))
            self._names.setdefault(number, set()).update(region.names)
            self._live.setdefault(number, set()).update(region.live)
            better = set() if region.further else {use.number for use in uses if not use.region.further}
            known = self._better.get(number, better)
            self._better[number] = better & known if known is not None else set()
            uses.append(RegionUse(number, region))
        return tuple(uses)

    def recorder_instructions(self, texts: Mapping[str, str]) -> dict[int, dict[str, Any]]:
        """Return the instructions for recorders about the regions."""
        files = sorted(texts)
        return {
            number: {
                "id": number,
                "path": path,
                "files": files,
                "steps": [list(step) for step in region.before.steps],
                "block": region.before.block,
                "start": region.before.start,
                "stop": region.before.stop,
                "names": sorted(self._names[number]),
                "live": sorted(self._live[number]),
                "unless": sorted(self._better[number] or ()),
                "suspends": region.suspends,
                "yields": region.yields,
                "made": list(self._made.get(number, ())),
            }
            for number, (path, region) in self._regions.items()
        }
