"""`rlint prove`: from options to a proof, and from a proof to a report."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import click

from rlint.errors import RlintError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rlint.findings import Finding
    from rlint.prove.proof import Proof
    from rlint.prove.proving import Expected
    from rlint.run_data import Target

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def run(command: Sequence[str], options: dict[str, Any]) -> int:
    """Prove the fixes of a program by a command; return the exit status."""
    from rlint.cli.commands.verify_command import require_psutil
    from rlint.cli.on_cluster import runner_of
    from rlint.cli.working import working
    from rlint.engine.api import Fixer
    from rlint.engine.cache.store import own_key
    from rlint.output.terminal import printable
    from rlint.prove import proof as proofs
    from rlint.prove.interruptions import Interruptions
    from rlint.prove.proving import ProveOptions, prove
    from rlint.prove.recording_run import ProveLimits

    require_psutil()
    if options["proof"] is not None and not options["proof"].absolute().parent.is_dir():
        raise RlintError(f"{options['proof']}: there is no folder to write the proof into")
    work = _work(options)
    targets = work.targets()
    if not targets:
        raise RlintError("no Python files found under the given paths")
    with working("looking for fixes", quiet=options["quiet"]):
        fixer = Fixer(targets, jobs=work.settings.jobs, confidence=work.settings.confidence)
    limits = ProveLimits(options["seconds"], bytes_of(options["keep"]))
    requested = ProveOptions(
        limits,
        budget=options["budget"],
        pairs=options["whole_run"] or 0,
        estimates=lambda findings: _expected(findings, targets, options["profile"]),
    )

    def tell(what: str) -> None:
        if not options["quiet"]:
            click.echo(f"rlint: {printable(what)}", err=True)

    interruptions = Interruptions()
    with interruptions.taken():
        with runner_of(options, options["device"]) as runner:
            if runner is not None:
                requested = dataclasses.replace(requested, runner=runner)
            found = prove(fixer, command, requested, tell, interruptions)
        _report(found, options)
        if options["proof"] is not None:
            proofs.write(found, options["proof"], own_key())
    return 128 + interruptions.raised if interruptions.raised else _status(found)


def show(path: Path, options: dict[str, Any]) -> int:
    """Show an existing proof; return its exit status."""
    from rlint.cli.proven import read_proof

    found, own = read_proof(path)
    if not own and not options["quiet"]:
        click.echo(f"warning: {path} was not created by you on this machine", err=True)
    _report(found, options)
    return _status(found)


def _status(found: Proof) -> int:
    from rlint.prove.proof import DIFFERENT, PROVEN

    verdicts = [one.verdict for one in found.fixes]
    if not any(verdict in PROVEN for verdict in verdicts):
        return 2
    return 1 if DIFFERENT in verdicts else 0


def _work(options: dict[str, Any]) -> Any:
    from rlint.cli.request import Request
    from rlint.cli.targets import find_work

    overrides: dict[str, Any] = {}
    if options["select"]:
        overrides["select"] = [one for each in options["select"] for one in each.split(",")]
    paths = options["paths"] or (".",)
    work = find_work(Request(paths, overrides, config=options["config"], isolated=options["isolated"]))
    if work.problems:
        raise RlintError("\n".join(str(problem) for problem in work.problems))
    return work


def _expected(
    findings: Sequence[Finding], targets: Sequence[Target], profile: Path | None
) -> dict[Finding, Expected]:
    """Return the gains that impact and profile predict for each finding."""
    from rlint.cli.profiled import time_ratios
    from rlint.cli.rule_figures import rule_figures, with_impact
    from rlint.evidence.results import Ratio
    from rlint.prove.proving import Expected

    figures = rule_figures({finding.code for finding in findings}, None)
    impacts = {each: each.impact for each in with_impact(findings, figures)}
    saved: dict[Finding, Ratio] = {}
    if profile is not None:
        from rlint.profiles.heating import Heater
        from rlint.profiles.read import read

        heater = Heater(read(profile), str(profile), {target.name: target.path for target in targets})
        for finding, heated in heater.heating(findings, time_ratios(findings)).findings.items():
            if heated.saved is not None:
                saved[finding] = Ratio(heated.saved.middle, heated.saved.low, heated.saved.high)
    return {
        finding: Expected(str(impact.level) if impact is not None else "", saved.get(finding))
        for finding, impact in impacts.items()
    }


def bytes_of(text: str) -> int:
    """Return a size such as `512MB`, `2G` in bytes."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMG]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if found is None:
        raise RlintError(f"`--keep {text}` is not a size; write `512MB` or `2GB`")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def _report(found: Proof, options: dict[str, Any]) -> None:
    from rlint.cli.console import Console, terminal_width
    from rlint.cli.request import Request
    from rlint.prove import report

    request = Request((), {}, output_file=options["output_file"], color=options["color"])
    width = None if request.output_file else terminal_width()
    text = report.render(found, options["output_format"], color=request.colored, width=width)
    Console(request).report(text)
