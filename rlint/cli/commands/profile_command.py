"""`rlint profile`."""

from __future__ import annotations

from pathlib import Path

import click

_STEPS = "Stop the run, as Ctrl-C would, after N calls of the step function (cprofile only)."
_STEP = "Function that --steps counts, as NAME or FILE:NAME (default: the most called `step`)."
_SECONDS = "Stop the run, as Ctrl-C would, after this many seconds."
_PROFILER = (
    "Profiler: cprofile (default) counts every call and needs no package; py-spy samples "
    "lines, threads and processes."
)


@click.command(
    "profile",
    short_help="Run a program under a profiler.",
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False},
)
@click.option("--profiler", type=click.Choice(["cprofile", "py-spy"]), default="cprofile", help=_PROFILER)
@click.option("--steps", type=click.IntRange(min=1), metavar="N", help=_STEPS)
@click.option("--step-function", "step", metavar="NAME", default="step", help=_STEP)
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), metavar="S", help=_SECONDS)
@click.option(
    "--rate",
    type=click.IntRange(1, 1000),
    default=100,
    metavar="HZ",
    help="Samples per second (py-spy only).",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File to write the profile to (default: rlint.pstats, or rlint.speedscope.json).",
)
@click.option("-q", "--quiet", is_flag=True, help="Print nothing about the profile.")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED, metavar="[--] COMMAND...")
def command(
    profiler: str,
    steps: int | None,
    step: str,
    seconds: float | None,
    rate: int,
    output: Path | None,
    quiet: bool,
    program: tuple[str, ...],
) -> int:
    """Run a Python program under a profiler: `rlint profile -- python train.py --lr 3e-4`.

    `rlint check --profile FILE` then ranks findings by their share of the run. The program has its own input
    and output; rlint exits with its status, or with 2 if it could not be profiled.
    """
    from rlint.errors import RlintError
    from rlint.profiles.recording import DEFAULT_FILES, RecordingLimits, record

    words = program[1:] if program[0] == "--" else program
    if not words:
        raise click.UsageError("no command to profile: `rlint profile -- python train.py`")
    file = output or Path(DEFAULT_FILES[profiler])
    done = record(words, file, profiler=profiler, limits=RecordingLimits(steps, step, seconds), rate=rate)
    if not done.written:
        raise RlintError(
            f"the program ended (status {done.status}) without a profile: it was killed, it left by "
            "`os._exit`, or the profiler could not start"
        )
    if not quiet:
        ended = ", stopped at the limit" if done.stopped else ""
        click.echo(f"rlint: wrote {file} ({done.seconds:.1f} s{ended})", err=True)
        click.echo(f"rlint: `rlint check --profile {file}` ranks findings by it", err=True)
    return done.status
