"""`rlint rule`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from rlint.cli.enabled_plugins import configuration, use_plugins
from rlint.cli.shared_options import offer_rules
from rlint.errors import RlintError

if TYPE_CHECKING:
    from rlint.registry.catalogue import RuleEntry


@click.command("rule", short_help="Explain a rule.")
@click.argument("rule", metavar="[CODE|NAME]", required=False, shell_complete=offer_rules)
@click.option("--all", "everything", is_flag=True, help="Show the documentation of all rules.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    help="Output format: page or JSON.",
)
@configuration
def command(
    rule: str | None, everything: bool, output_format: str, config: tuple[str, ...], isolated: bool
) -> None:
    """Explain a rule: what it looks for, why that is slow, and when its fix is safe."""
    from rlint.registry import catalogue

    use_plugins(config, isolated=isolated)
    if everything:
        entries = list(catalogue.catalogue())
    elif rule is not None:
        entries = [catalogue.find(rule)]
    else:
        raise RlintError("name a rule by its code or name (`rlint rules` lists them), or use `--all`")
    broken = catalogue.load_usable([entry.code for entry in entries if entry.plugin is not None])[1]
    for entry, reason in broken:
        click.echo(f"error: {catalogue.left_out(entry, reason)}", err=True)
    if output_format == "json":
        pages = [
            {**facts(entry), "explanation": entry.page, "evidence": _evidence(entry)} for entry in entries
        ]
        click.echo(json.dumps(pages if everything else pages[0], indent=2, ensure_ascii=False))
    else:
        text = "\n\n".join(f"# {entry.name} ({entry.code})\n\n{page_of(entry).rstrip()}" for entry in entries)
        _show(text, rendered=output_format == "text" and sys.stdout.isatty())
    if broken:
        click.get_current_context().exit(1)


def facts(entry: RuleEntry) -> dict[str, object]:
    """Return the facts about a rule for the table and the JSON format."""
    from rlint.evidence import recorded
    from rlint.output import evidence_lines

    evidence = recorded.of(entry)
    return {
        "code": entry.code,
        "name": entry.name,
        "family": entry.family,
        "origin": entry.origin,
        "fix": entry.fixes,
        "opt_in": entry.opt_in,
        "summary": entry.summary,
        "gain": evidence.gain.value,
        "measured": evidence_lines.line(evidence),
    }


def page_of(entry: RuleEntry) -> str:
    """Return the rule's documentation, with its measurements."""
    from rlint.output import measured_page

    from_plugin = f"\n\n(Provided by the plugin {entry.origin}.)" if entry.plugin is not None else ""
    summary, line_end, rest = entry.page.partition("\n")
    return measured_page.with_evidence(f"{summary}{from_plugin}{line_end}{rest}", entry)


def _evidence(entry: RuleEntry) -> dict[str, object] | None:
    """Return all measurements of a rule; None for a rule without a fixture."""
    from rlint.evidence import recorded

    if entry.fixtures is None:
        return None
    evidence = recorded.of(entry)
    stale = recorded.stale(evidence)
    return {
        "devices": [{**recorded.to_json(one), "stale": stale[one.device]} for one in evidence.recordings],
        "unreadable": list(evidence.unreadable),
    }


def _show(page: str, *, rendered: bool) -> None:
    if not rendered:
        click.echo(page)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(page))
