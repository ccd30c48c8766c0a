"""`rlint explain`."""

from __future__ import annotations

import click

from rlint.cli.request import Request
from rlint.cli.shared_options import CONFIGURATION, offer_rules

_SELECT = "Explain these rules only: codes, prefixes (RL1), names or ALL, with commas between."


@click.command("explain", short_help="Say what the rules know of a line, and why they are silent.")
@click.argument("places", nargs=-1, required=True, metavar="FILE:LINE[:COLUMN]...")
@click.option("--select", multiple=True, metavar="RULES", help=_SELECT, shell_complete=offer_rules)
@click.option("--all", "every", is_flag=True, help="Show the rules that did not come near, too.")
@click.option(
    "--output-format", type=click.Choice(["full", "json"]), default="full", help="For people, or as data."
)
@click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Use of colours."
)
@click.option("-n", "--no-cache", is_flag=True, help="Use no summaries of earlier runs, and keep none.")
@CONFIGURATION[0]
@CONFIGURATION[1]
def command(
    places: tuple[str, ...],
    select: tuple[str, ...],
    *,
    every: bool,
    output_format: str,
    color: str,
    no_cache: bool,
    config: tuple[str, ...],
    isolated: bool,
) -> None:
    """Say what each rule that looks at a line knows of it: what it reports, or why it is silent, how often
    the line runs, what its values are, and what would change the answer.

    A line of a notebook is named by its cell: `notebook.ipynb:cell 3:12`.
    """
    from rlint.cli.explained import explain

    selectors = [item.strip() for value in select for item in value.split(",")] or None
    request = Request(
        paths=places,
        overrides={"select": selectors},
        config=config,
        isolated=isolated,
        color=color,
        no_cache=no_cache,
    )
    click.get_current_context().exit(explain(request, every=every, as_json=output_format == "json"))
