"""`--proven FILE` and `--proof FILE`: results of `rlint prove` for fixing and checking."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rlint.errors import RlintError
from rlint.findings import Impact, ImpactLevel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rlint.cli.console import Console
    from rlint.cli.targets import CheckWork
    from rlint.findings import Finding
    from rlint.prove.proof import Proof, ProvenFix
    from rlint.run_data import FixId, FixReport, Target

_HIGH, _MEDIUM = 0.1, 0.01


def read_proof(path: Path) -> tuple[Proof, bool]:
    """Read a proof, and return whether this user created it on this machine. Raises RlintError."""
    from rlint.engine.cache.store import own_key
    from rlint.prove import proof

    return proof.read(path, own_key())


def proven_names(path: Path, targets: Iterable[Target]) -> frozenset[FixId]:
    """Return the fixes that were proven to keep the results and to be faster.

    Raises RlintError if the code has changed since, or if the fixes change results together.
    """
    from rlint.prove.proof import DIFFERENT

    proof, _ = read_proof(path)
    proven = [one for one in proof.fixes if one.is_proven]
    if proof.together is not None and proof.together.verdict == DIFFERENT:
        raise RlintError(
            f"{path}: the proven fixes change results when applied together: "
            f"{_first(proof.together)}. Nothing was changed"
        )
    files = {target.name: target.path for target in targets}
    for one in proven:
        known = files.get(one.path)
        if known is not None and _digest(known) != proof.digests.get(one.path):
            raise RlintError(
                f"{one.path} has changed since it was proven. Run `rlint prove` again. Nothing was changed"
            )
    return frozenset(one.name for one in proven)


def print_applied_fixes(path: Path, fixed: FixReport, console: Console) -> None:
    """Print which fixes were applied, on what evidence, and which were not and why."""
    proof, own = read_proof(path)
    applied = set(fixed.ids)
    origin = "" if own else "; it was not created by you on this machine and cannot be verified"
    console.note(
        f"proven by `{' '.join(proof.command)}` on {proof.date[:10]}, on recorded calls of it{origin}"
    )
    for one in proof.fixes:
        place = f"{one.code} {one.path}:{one.line}"
        if one.name in applied:
            console.note(f"applied {place}: {_figures(one)}")
        elif one.is_proven:
            console.note(f"not applied {place}: it is no longer reported")
        else:
            console.note(f"not applied {place}: {one.verdict}{f' ({_first(one)})' if _first(one) else ''}")


def with_measured_impact(work: CheckWork, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings sorted by their gain in the proven run, each with its measurement."""
    assert work.request.proof is not None
    proof, _ = read_proof(work.request.proof)
    known = {(one.path, one.line, one.column, one.code): one for one in (*proof.fixes, *proof.others)}
    paths = {target.name: target.path for target in work.targets()}
    same = {
        name for name, digest in proof.digests.items() if name in paths and _digest(paths[name]) == digest
    }
    ranked = []
    for finding in findings:
        one = known.get((finding.path, finding.start.line, finding.start.column, finding.code))
        if one is None or (one.path in proof.digests and one.path not in same):
            ranked.append((0.0, finding))
            continue
        gain = one.gain.value if one.gain is not None and one.is_proven else 0.0
        ranked.append((gain, _measured(finding, one, gain)))
    return tuple(finding for _, finding in sorted(ranked, key=lambda pair: -pair[0]))


def _measured(finding: Finding, one: ProvenFix, gain: float) -> Finding:
    from rlint.prove.proof import PROVEN

    if one.verdict not in PROVEN:
        return finding
    level = ImpactLevel.HIGH if gain >= _HIGH else ImpactLevel.MEDIUM if gain >= _MEDIUM else ImpactLevel.LOW
    return replace(finding, impact=Impact(level, f"proven on your run: {one.verdict}, {_figures(one)}"))


def _figures(one: ProvenFix) -> str:
    from rlint.prove.report.proof_words import gain_text

    if one.ratio is None:
        return _first(one) or one.verdict
    return (
        f"{one.ratio.value:.2f}× faster in {one.where}, {gain_text(one.gain)} of the run, {one.cases} cases"
    )


def _first(one: ProvenFix) -> str:
    """Return the first difference of a fix, or the reason why there is no verdict."""
    if one.differences:
        first = one.differences[0]
        return f"{first['kind']} of `{first['path']}`"
    return one.reason


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
