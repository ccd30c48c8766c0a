"""`rlint fix`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from rlint.cli.options import shared_options

if TYPE_CHECKING:
    from rlint.cli.request import Request


@click.command("fix", short_help="Repair slow code.")
@shared_options
def command(request: Request) -> int:
    """Repair slow code where that is safe; with --unsafe-fixes, where a reader must agree, too.

    Exits with 0 if no findings remain, 1 if some do, 2 if nothing could be checked.
    """
    from rlint.cli.run import run

    return run(replace(request, overrides={**request.overrides, "fix": True}))
