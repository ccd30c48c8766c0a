"""`rlint completion`, and the completion of rule names in a shell."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

    from click.shell_completion import CompletionItem

    from rlint.registry.catalogue import RuleEntry

_VARIABLE = "_RLINT_COMPLETE"
_SHELLS = ("bash", "zsh", "fish")


@click.command("completion", short_help="Print a shell completion script.")
@click.argument("shell", type=click.Choice(_SHELLS))
def command(shell: str) -> None:
    r"""Print a script that lets a shell complete rlint's commands, options, and rule codes and names.

    \b
    eval "$(rlint completion bash)"      # in ~/.bashrc
    eval "$(rlint completion zsh)"       # in ~/.zshrc, below compinit
    rlint completion fish | source       # in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    from rlint.cli import cli

    found = get_completion_class(shell)
    assert found is not None
    # `source` in bash runs the installed bash for its version; the script is the same for all supported ones
    complete = found(cli, {}, "rlint", _VARIABLE)
    click.echo(complete.source_template % complete.source_vars())


def rules(parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return rules by code and name, and families by the beginning of their codes, after the last comma."""
    from click.shell_completion import CompletionItem

    from rlint.errors import RlintError
    from rlint.registry.catalogue import catalogue

    before, comma, wanted = incomplete.rpartition(",")
    with contextlib.suppress(RlintError):  # messages must not appear during completion
        _use_plugins()
    entries = catalogue()
    offers = {entry.code: entry.name for entry in entries} | {entry.name: entry.code for entry in entries}
    if parameter.name in _SELECTORS:
        offers = {**_beginnings(entries), "ALL": "all rules", **offers}
    found = [
        CompletionItem(f"{before}{comma}{offer}", help=help_text)
        for offer, help_text in offers.items()
        if offer.lower().startswith(wanted.lower())
    ]
    if not found and parameter.name == "what":  # `rlint verify` accepts files, too
        return [CompletionItem(incomplete, type="file")]
    return found


_SELECTORS = ("select", "ignore", "extend_select", "what")


def _beginnings(entries: Iterable[RuleEntry]) -> dict[str, str]:
    return {entry.code[:-2]: entry.family for entry in entries}


def _use_plugins() -> None:
    """Load the plugins that the configuration of the working folder names, if there is one."""
    from pathlib import Path

    from rlint.config.options import find_config

    folder = Path.cwd()
    if any(find_config(each) is not None for each in (folder, *folder.parents)):
        from rlint.cli.request import build_resolver

        build_resolver({}, (), isolated=False)
