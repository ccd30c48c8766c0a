"""Parse the command line. Each command is a module of its own, imported when it is used.

Answers which command runs with which options. Knows neither rules nor the internals of the engine.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rlint import __version__
from rlint.errors import RlintError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

_MADE_BEFORE_GARBAGE_IS_SOUGHT = 100_000
"""Number of objects. Start-up creates half as many and no garbage, but would trigger sixty collections."""
COMMANDS = (
    "check",
    "fix",
    "explain",
    "verify",
    "prove",
    "survey",
    "profile",
    "rule",
    "rules",
    "site",
    "config",
    "init",
    "clean",
    "server",
    "completion",
)


class CommandFailure(click.ClickException):
    """rlint could not do its work."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        """Print the message on standard error."""
        from rlint.output.terminal import printable

        # quoted text may contain terminal control sequences
        shown = "\n".join(map(printable, self.message.splitlines()))
        click.echo(f"rlint: error: {shown}", file=file or sys.stderr)


class Commands(click.Group):
    """Imports a command's module when it is used, and turns rlint's errors into messages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands in the order of `--help`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"rlint.cli.commands.{cmd_name}_command").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments begin with."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            is_path = Path(name).exists()
            hint = f"; to check files, run `rlint check {name}`" if is_path else did_you_mean(name, COMMANDS)
            raise click.UsageError(f"no such command `{name}`{hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the requested command."""
        try:
            return super().invoke(ctx)
        except RlintError as error:
            raise CommandFailure(str(error)) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, "-V", "--version", message="rlint %(version)s")
def cli() -> None:
    """Find, explain and fix performance problems in reinforcement-learning and PyTorch code.

    Checked code is parsed, never imported or executed.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run rlint and exit: 0 clean, 1 findings, 2 the tool could not do its work."""
    gc.set_threshold(_MADE_BEFORE_GARBAGE_IS_SOUGHT)
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        # A console without UTF-8 gets escapes instead of a crash.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        status = cli.main(given, prog_name="rlint", standalone_mode=False)
        sys.stdout.flush()
    except click.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except BrokenPipeError:
        # The reader has closed the pipe (`rlint check | head`); keep the interpreter from flushing into it
        # again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:  # noqa: BLE001 - the last resort of the program
        sys.exit(_report_crash(error, verbose=bool({"-v", "--verbose"} & set(given))))
    sys.exit(status if isinstance(status, int) else 0)


def _report_crash(error: Exception, *, verbose: bool) -> int:
    import traceback

    if verbose:
        traceback.print_exception(type(error), error, error.__traceback__)
    what = traceback.format_exception_only(type(error), error)[-1].strip()
    click.echo(f"rlint: internal error: {what}", err=True)
    click.echo("This is a bug in rlint. Please report it with the output of `--verbose`.", err=True)
    return 2
