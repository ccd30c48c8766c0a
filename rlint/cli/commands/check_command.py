"""`rlint check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rlint.cli.shared_options import RunCommand, shared_options

if TYPE_CHECKING:
    from rlint.cli.request import Request

_FIX = "Apply safe fixes, as `rlint fix` does."
_WATCH = "Check again on every file change, until Ctrl-C."
_NOQA = "Add `# noqa: CODE` to every line with a finding."


@click.command("check", cls=RunCommand, short_help="Report performance problems.")
@click.option("--fix/--no-fix", default=None, help=_FIX)
@click.option("--add-noqa", is_flag=True, help=_NOQA)
@click.option("-w", "--watch", is_flag=True, help=_WATCH)
@shared_options
def command(request: Request) -> int:
    """Report performance problems in files, folders (default: the current one) or standard input (`-`).

    Exits with 0 if there are no findings, 1 if there are, 2 if nothing could be checked.
    """
    if request.watch:
        from rlint.cli.watch import watch

        return watch(request)
    from rlint.cli.run import run

    return run(request)
