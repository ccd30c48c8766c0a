"""`rlint rules`."""

from __future__ import annotations

import json

import click

from rlint.cli.commands.rule_command import facts
from rlint.cli.enabled_plugins import configuration, use_plugins


@click.command("rules", short_help="List the rules.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Output format: table or JSON.",
)
@configuration
def command(output_format: str, config: tuple[str, ...], isolated: bool) -> None:
    """List all rules with code, name, family, fix safety, measured gain and a summary. Rules of plugins that
    the configuration of the current folder names are included.
    """
    from rlint.evidence import recorded
    from rlint.output import evidence_lines
    from rlint.registry import catalogue

    use_plugins(config, isolated=isolated)
    entries = catalogue.catalogue()
    if output_format == "json":
        click.echo(json.dumps([facts(entry) for entry in entries], indent=2, ensure_ascii=False))
        return
    origins = any(entry.plugin for entry in entries)
    rows = [
        ("code", "name", *(["origin"] if origins else []), "family", "fix", "default", "measured", "summary")
    ]
    for entry in entries:
        default = "opt-in" if entry.opt_in else "on"
        gained = evidence_lines.cell(recorded.of(entry))
        origin = [entry.origin] if origins else []
        described = (entry.family, entry.fixes, default, gained, entry.summary)
        rows.append((entry.code, entry.name, *origin, *described))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        click.echo("  ".join([*cells, row[-1]]).rstrip())
