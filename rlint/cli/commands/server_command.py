"""`rlint server`."""

from __future__ import annotations

import logging

import click

from rlint.errors import RlintError


def _address(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, int] | None:
    if value is None:
        return None
    host, _colon, port = value.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65_535:
        raise click.BadParameter(f"{value!r} is not of the form HOST:PORT")
    return host.strip("[]"), int(port)


@click.command("server", short_help="Start the language server.")
@click.option("--stdio", is_flag=True, help="Communicate over standard input and output (default).")
@click.option("--tcp", metavar="HOST:PORT", callback=_address, help="Listen for one editor at this address.")
@click.option("-v", "--verbose", is_flag=True, help="Log every message to standard error.")
def command(stdio: bool, tcp: tuple[str, int] | None, verbose: bool) -> None:
    """Start the language server: findings while typing, code actions for fixes, rule documentation on hover.

    Editors start this command; see docs/editors.md. Requires `rlint[lsp]`.
    """
    try:
        from rlint.lsp.language_server import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "attrs"):
            raise
        raise RlintError(
            "the language server needs pygls 2: install it with `pip install 'rlint[lsp]'` in the "
            "environment that rlint runs in"
        ) from error
    if stdio and tcp is not None:
        raise click.UsageError("`--stdio` and `--tcp` exclude each other")
    logging.basicConfig(level=logging.DEBUG if verbose else logging.ERROR)
    if tcp is not None:
        click.echo(f"rlint: waiting for an editor at {tcp[0]}:{tcp[1]}", err=True)
    try:
        status = serve(tcp)
    except OSError as error:
        raise RlintError(f"cannot serve: {error.strerror or error}") from error
    click.get_current_context().exit(status)
