"""The plugins that the configuration of the working folder names, for the commands that are about rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rlint.cli.shared_options import CONFIGURATION
from rlint.errors import RlintError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def configuration(decorated: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options `--config` and `--isolated`."""
    for option in reversed(CONFIGURATION):
        decorated = option(decorated)
    return decorated


def use_plugins(config: tuple[str, ...], *, isolated: bool) -> None:
    """Put the configured plugins into use. What is wrong with one is said on standard error.

    So is what is wrong with a configuration that was found, not named: pages can be read without it.
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
