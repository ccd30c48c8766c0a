"""`rlint explain`."""

from __future__ import annotations

import click

from rlint.cli.request import Request
from rlint.cli.shared_options import CONFIGURATION, offer_rules

_SELECT = "Explain only these rules: comma-separated codes, prefixes (RL1), names or ALL."


@click.command("explain", short_help="Explain why rules do or do not report a line.")
@click.argument("places", nargs=-1, required=True, metavar="FILE:LINE[:COLUMN]...")
@click.option("--select", multiple=True, metavar="RULES", help=_SELECT, shell_complete=offer_rules)
@click.option("--all", "every", is_flag=True, help="Also show rules that ruled the line out early.")
@click.option(
    "--output-format",
    type=click.Choice(["full", "json"]),
    default="full",
    help="Output format: readable text or JSON.",
)
@click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to use colours."
)
@click.option("-n", "--no-cache", is_flag=True, help="Do not read or write the cache.")
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
    """Explain, for each rule that examines a line, what it reports or why it is silent: how often the line
    runs, what is known of its values, and what would change the result.

    Give a line of a notebook by its cell: `notebook.ipynb:cell 3:12`.
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
