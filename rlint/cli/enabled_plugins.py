"""Plugins in the configuration of the working folder, for the commands about rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rlint.cli.shared_options import CONFIGURATION
from rlint.errors import RlintError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def configuration(decorated: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options `--config` and `--isolated` to a command."""
    for option in reversed(CONFIGURATION):
        decorated = option(decorated)
    return decorated


def use_plugins(config: tuple[str, ...], *, isolated: bool) -> None:
    """Load the configured plugins. Problems with one are printed on standard error.

    So are problems with a configuration that was found, not named: pages can be read without it.
    """
    from rlint.cli.request import build_resolver

    try:
        problems = [f"error: {problem}" for problem in build_resolver({}, config, isolated=isolated).problems]
    except RlintError as error:
        if config:
            raise
        problems = [f"warning: {error}; any plugins that it names are ignored"]
    for problem in problems:
        click.echo(problem, err=True)
