"""`rlint clean`."""

from __future__ import annotations

import click

from rlint.cli.enabled_plugins import configuration


@click.command("clean", short_help="Delete the results that earlier runs have kept.")
@configuration
def command(config: tuple[str, ...], isolated: bool) -> None:
    """Delete the cache that `rlint check` uses in this folder: `.rlint_cache` beside the configuration, or
    what `cache-dir` names.

    Nothing but what rlint wrote is deleted; a folder that holds other things stays, with these.
    """
    from rlint.cli.request import Request
    from rlint.cli.targets import with_settings

    cache = with_settings(Request((), {}, config=config, isolated=isolated)).cache()
    if cache is not None and cache.clear():
        click.echo(f"removed {cache.folder}")
    else:
        click.echo("there is no cache to remove")
