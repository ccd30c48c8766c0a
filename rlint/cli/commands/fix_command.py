"""`rlint fix`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rlint.cli.shared_options import RunCommand, shared_options

if TYPE_CHECKING:
    from rlint.cli.request import Request

_INTERACTIVE = "Show each fix and ask whether to apply it."
_VERIFY = "Run this command in a copy of the tree, before and after the fixes; drop fixes that make it fail."
_PROVEN = "Apply only fixes, safe or unsafe, that `rlint prove` found to give the same results and be faster."
_TIMEOUT = "Time limit for each run of the command (default: ten times the run before any fix, at least 60)."
_FASTER = "Also drop fixes that make the command slower; it is timed in seven pairs of runs."


@click.command("fix", cls=RunCommand, short_help="Fix performance problems.")
@click.option("-i", "--interactive", is_flag=True, help=_INTERACTIVE)
@click.option("--proven", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help=_PROVEN)
@click.option("--verify-with", metavar="COMMAND", help=_VERIFY)
@click.option("--verify-timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help=_TIMEOUT)
@click.option("--require-faster", is_flag=True, help=_FASTER)
@shared_options
def command(request: Request) -> int:
    """Apply safe fixes; with --unsafe-fixes, also fixes that need review.

    Exits with 0 if no findings remain, 1 if some do or a file could not be written, 2 if nothing was done:
    nothing could be checked, the tree has uncommitted changes, or the command failed before any fix.
    """
    from rlint.cli.run import run

    if request.interactive:
        _refuse_interactive(request)
    if request.verify_with is None:
        for name in ("verify_timeout", "require_faster"):
            if getattr(request, name):
                raise click.UsageError(f"`--{name.replace('_', '-')}` needs `--verify-with`")
    elif not request.verify_with.strip():
        raise click.UsageError("`--verify-with` needs a command")
    elif request.reads_stdin:
        raise click.UsageError(
            "`--verify-with` runs a command on files; it cannot be used with standard input"
        )
    return run(replace(request, overrides={**request.overrides, "fix": True}, command="fix"))


def _refuse_interactive(request: Request) -> None:
    if request.reads_stdin:
        raise click.UsageError(
            "`--interactive` reads answers from standard input, so the program cannot be read from there"
        )
    for name in ("diff", "verify_with", "proven"):
        if getattr(request, name):
            raise click.UsageError(f"`--interactive` and `--{name.replace('_', '-')}` exclude each other")
