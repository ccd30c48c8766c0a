"""`rlint clean`."""

from __future__ import annotations

import click

from rlint.cli.enabled_plugins import configuration


@click.command("clean", short_help="Delete cached results of earlier runs.")
@configuration
def command(config: tuple[str, ...], isolated: bool) -> None:
    """Delete the cache of the current folder: `.rlint_cache` beside the configuration file, or the folder
    that `cache-dir` names.

    Only files written by rlint are deleted; a folder that holds other files is kept, with those files.
    """
    from rlint.cli.request import Request
    from rlint.cli.targets import with_settings

    cache = with_settings(Request((), {}, config=config, isolated=isolated)).cache()
    if cache is not None and cache.clear():
        click.echo(f"removed {cache.folder}")
    else:
        click.echo("no cache to remove")
