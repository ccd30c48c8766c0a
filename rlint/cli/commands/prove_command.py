"""`rlint prove`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rlint.cli.enabled_plugins import configuration
from rlint.cli.on_cluster import cluster_options

_FORMATS = ("table", "json", "markdown", "html")
_FILE = click.Path(dir_okay=False, path_type=Path)
_PATH = "File or folder to look for fixes in (repeatable; default: the current folder)."
_KEEP = "Maximum size of the recording, which is kept in a temporary folder (default: 512MB)."
_SECONDS = "Stop the run, as Ctrl-C would, after this many seconds, and replay what was recorded."
_WHOLE = "Also time the whole command: N alternating runs without and with the fixes."
_PROFILE = "Compare the measured gains with those that this profile predicts."


@click.command(
    "prove",
    short_help="Verify and time fixes on your own run.",
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False},
)
@click.option("--path", "paths", multiple=True, metavar="PATH", help=_PATH)
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), metavar="S", help=_SECONDS)
@click.option("--keep", metavar="SIZE", default="512MB", help=_KEEP)
@click.option(
    "--budget",
    type=click.FloatRange(min=0.1),
    default=4.0,
    show_default=True,
    metavar="S",
    help="Seconds to time each fix.",
)
@click.option("--whole-run", type=click.IntRange(min=1), metavar="N", help=_WHOLE)
@click.option("--profile", type=click.Path(path_type=Path), metavar="FILE", help=_PROFILE)
@click.option("--select", multiple=True, metavar="RULES", help="Prove only fixes of these rules.")
@click.option(
    "--proof", type=_FILE, default=Path("rlint.proof"), show_default=True, help="File to write the proof to."
)
@click.option("--output-format", type=click.Choice(_FORMATS), default="table", help="Output format.")
@click.option("-o", "--output-file", type=_FILE, help="Write the report to this file.")
@click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to use colours."
)
@click.option("-q", "--quiet", is_flag=True, help="Hide progress output.")
@cluster_options
@click.option(
    "--device", type=click.Choice(["cpu", "cuda"]), default="cpu", help="With --ray: device of the nodes."
)
@configuration
@click.option("--show", type=_FILE, metavar="FILE", help="Show an existing proof without running anything.")
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[--] COMMAND...")
def command(program: tuple[str, ...], **options: Any) -> None:
    """Record calls of your run and replay them before and after each fix: compare results and measure the
    gain.

    `rlint prove -- python train.py --steps 2000` runs the command once, with recorders in the functions that
    fixes would change. This command runs the code that it is given.

    Exits with 0 if every fix that could be replayed keeps the results of the run, 1 if one does not, 2 if
    nothing could be proven.
    """
    from rlint.cli.prove_run import run, show

    if options["show"] is not None:
        click.get_current_context().exit(show(options["show"], options))
    words = program[1:] if program[:1] == ("--",) else program
    if not words:
        raise click.UsageError("no command to run: `rlint prove -- python train.py`")
    click.get_current_context().exit(run(words, options))
