"""`rlint verify`."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rlint.cli.enabled_plugins import configuration, use_plugins
from rlint.cli.on_cluster import cluster_options, runner_of
from rlint.cli.shared_options import offer_rules
from rlint.errors import RlintError

if TYPE_CHECKING:
    from rlint.evidence.hashes import Hashes
    from rlint.evidence.results import Session
    from rlint.harness.session_options import SessionOptions
    from rlint.harness.subjects import Experiment
    from rlint.registry.catalogue import RuleEntry

_FORMATS = ("table", "json", "markdown", "html")
_UNSAFE = "With --workload: also apply unsafe fixes."
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("verify", short_help="Run code before and after fixes, and compare.")
@click.argument("what", nargs=-1, metavar="[RULES]... | FILES...", shell_complete=offer_rules)
@click.option(
    "--workload",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Verify FILES instead of rules; this workload runs the first of them.",
)
@click.option(
    "--device",
    "devices",
    multiple=True,
    type=click.Choice(["cpu", "cuda", "mps", "all"]),
    help="Device types to run on (default: all available).",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Compare behaviour at one size and measure for a fraction of the time; results are never recorded.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=20),
    default=20,
    show_default=True,
    help="Number of cases at each size.",
)
@click.option("--unsafe-fixes/--no-unsafe-fixes", default=None, help=_UNSAFE)
@click.option("--output-format", type=click.Choice(_FORMATS), default="table", help="Output format.")
@click.option("-o", "--output-file", type=_FILE, help="Write the report to this file.")
@click.option(
    "--record", is_flag=True, help="Record the results as the rules' evidence, which other commands show."
)
@click.option("--check-evidence", is_flag=True, help="Run nothing; fail if evidence is stale or missing.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Kill a process that shows no activity for this long.",
)
@click.option(
    "--memory-limit",
    type=click.FloatRange(min=0.1),
    default=4.0,
    show_default=True,
    metavar="GIB",
    help="Kill a process that uses more memory than this.",
)
@click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to use colours."
)
@click.option("-q", "--quiet", is_flag=True, help="Hide progress output.")
@cluster_options
@configuration
def command(what: tuple[str, ...], workload: Path | None, **options: Any) -> None:
    """Run each rule's fixture before and after its fixes; compare behaviour and measure the gain.

    RULES are codes, prefixes of codes, or names (default: all rules). With --workload, your own FILES are
    run before and after `rlint fix`. Unlike the other commands, this one executes the code it is given.

    Exits with 0 if no behaviour changes and nothing is slower, 1 if something changes, is slower, was
    compared in too few cases or did not finish, 2 if nothing could be run.
    """
    click.get_current_context().exit(_run(what, workload, options))


def _run(what: tuple[str, ...], workload: Path | None, options: dict[str, Any]) -> int:
    if workload is None:
        use_plugins(options["config"], isolated=options["isolated"])
    if options["check_evidence"]:
        return _check_evidence(_rules(what))
    require_psutil()
    if options["record"] and (options["quick"] or workload):
        raise RlintError("`--record` needs a full run over rules; it excludes `--quick` and `--workload`")
    from rlint.harness import subjects
    from rlint.harness.session_options import SessionOptions as Asked

    devices = None if not options["devices"] or "all" in options["devices"] else tuple(options["devices"])
    requested = Asked(
        devices=devices,
        quick=options["quick"],
        seeds=options["seeds"],
        silence=options["timeout"],
        memory=int(options["memory_limit"] * 2**30),
    )
    if workload is not None:
        return _verify([_own(what, workload, options)], requested, options)
    with subjects.fixtures_of(_rules(what)) as experiments:
        return _verify(experiments, requested, options)


def require_psutil() -> None:
    """Raise RlintError if a package that verification needs is not installed."""
    from importlib.util import find_spec

    if find_spec("psutil") is None:
        raise RlintError("`rlint verify` needs more packages: `pip install 'rlint[verify]'`")


def _rules(selectors: tuple[str, ...]) -> list[RuleEntry]:
    from rlint.registry import catalogue

    for selector in selectors:
        if selector.endswith(".py") or Path(selector).exists():
            raise RlintError(f"{selector} is a file: `--workload` must name the workload that runs it")
    found = [entry for one in selectors for entry in catalogue.resolve(one)] or list(catalogue.catalogue())
    chosen = sorted({entry.code: entry for entry in found if entry.module}.values(), key=lambda e: e.code)
    if not chosen:
        raise RlintError(f"{', '.join(selectors)} has no fixture: the engine itself reports this code")
    return chosen


def _own(paths: tuple[str, ...], workload: Path, options: dict[str, Any]) -> Experiment:
    from rlint.cli.request import Request
    from rlint.cli.targets import find_work
    from rlint.harness.subjects import own_program

    if not paths:
        raise RlintError("name the files to verify; the first must be the one that the workload runs")
    if not Path(paths[0]).is_file():
        raise RlintError(f"{paths[0]} is not a file: the first path must be the file that the workload runs")
    notebooks = [path for path in paths if path.endswith(".ipynb")]
    if notebooks:
        raise RlintError(
            f"{notebooks[0]} is a notebook, which rlint cannot run: move the code to a module and verify that"
        )
    overrides = {"unsafe-fixes": options["unsafe_fixes"], "force-exclude": False}
    work = find_work(Request(paths, overrides, config=options["config"], isolated=options["isolated"]))
    if work.problems:
        raise RlintError("\n".join(str(problem) for problem in work.problems))
    first = Path(paths[0]).resolve()
    targets = sorted(work.targets(), key=lambda target: target.path.resolve() != first)
    if not targets or targets[0].path.resolve() != first:
        raise RlintError(f"{paths[0]} is not a Python file")
    return own_program(targets, workload, unsafe=work.settings.unsafe_fixes)


def _verify(experiments: list[Experiment], requested: SessionOptions, options: dict[str, Any]) -> int:
    from rlint.cli.progress import progress_on
    from rlint.evidence.results import BUSY
    from rlint.harness.machine import busy
    from rlint.harness.verify_session import verify
    from rlint.output.verify.verdict_summary import busy_warning

    others = 0.0 if options["ray"] else busy()
    if others > BUSY and not options["quiet"]:
        click.echo(f"warning: {busy_warning(others)}", err=True)
    fingerprints = _fingerprints(experiments) if options["record"] else {}
    with runner_of(options) as runner, progress_on(sys.stderr, quiet=options["quiet"]) as progress:
        session = dataclasses.replace(verify(experiments, requested, progress, runner), busy=others)
    _report(session, options)
    if session.interrupted:
        raise click.Abort
    if options["record"]:
        from rlint.harness.measure.count_steps import record_occurrences
        from rlint.harness.record_evidence import record

        recorded = record(session, measured=fingerprints)
        recorded += record_occurrences(sorted({outcome.subject for outcome in session.outcomes}))
        for path in recorded:
            click.echo(f"recorded {path}", err=True)
        _update_rule_index()
    return 1 if session.failed else 0


def _update_rule_index() -> None:
    """Update the rule index after recording: a rule without a gain is off by default."""
    from rlint.registry.make_rule_index import write_rule_index

    try:
        changed = write_rule_index()
    except OSError as error:  # an installed rlint may be read-only
        click.echo(f"warning: the rule index was not updated: {error}", err=True)
        return
    if changed:
        click.echo(f"updated {changed}", err=True)


def _fingerprints(experiments: list[Experiment]) -> dict[str, Hashes]:
    """Return hashes of the rules to measure: rules edited during the run get no evidence."""
    from rlint.harness.record_evidence import hashes_of

    return {one.label: hashes_of(one) for one in experiments}


def _report(session: Session, options: dict[str, Any]) -> None:
    from rlint.cli.console import Console, terminal_width
    from rlint.cli.request import Request
    from rlint.output import verify as reports

    request = Request((), {}, output_file=options["output_file"], color=options["color"])
    width = None if request.output_file else terminal_width()
    text = reports.render(session, options["output_format"], color=request.colored, width=width)
    Console(request).report(text)


def _check_evidence(rules: list[RuleEntry]) -> int:
    from rlint.harness.check_evidence import check

    problems = check(rules)
    for problem in problems:
        click.echo(problem)
    return 1 if problems else 0
