"""Checking for a format that lists what comments hide, too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlint.cache import Cache
    from rlint.findings import Finding
    from rlint.runs import Report, Target
    from rlint.seen_files import SeenFiles
    from rlint.workers import Workers


def check(
    targets: Sequence[Target],
    *,
    jobs: int | None,
    cache: Cache | None,
    seen: SeenFiles | None,
    workers: Workers | None,
) -> Report:
    """Check files as the engine does, and keep in the report what their comments hide.

    Files that ask to be left alone as a whole are.
    """
    from rlint import engine, registry, suppress
    from rlint.engine_codes import ENGINE_CODES
    from rlint.runs import Hidden

    report = engine.check(
        targets, jobs=jobs, ignore_suppressions=True, cache=cache, seen=seen, workers=workers
    )
    own = {code.code for code in ENGINE_CODES}
    names = {entry.code: entry.name for entry in registry.catalogue()}
    shown: list[Finding] = []
    hidden: list[Hidden] = []
    failed = {problem.path for problem in report.problems}
    found: dict[str, list[Finding]] = {}
    for finding in report.findings:
        found.setdefault(finding.path, []).append(finding)
    for target in targets:
        wanted = target.codes is not None and own & target.codes and target.name not in failed
        if target.name not in found and not wanted:
            continue
        comments = suppress.parse(report.text_of(target.name))
        if comments.skip_file:
            continue
        for finding in found.get(target.name, []):
            if comments.hides(finding):
                hidden.append(Hidden(finding, in_source=True, reason="hidden by a comment"))
            else:
                shown.append(finding)
        if wanted:
            shown += comments.report(target.name, names, target.codes or ())
    shown.sort(key=lambda finding: finding.sort_key)
    return replace(report, findings=tuple(shown), hidden=tuple(hidden))
