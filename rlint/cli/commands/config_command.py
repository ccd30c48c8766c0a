"""`rlint config`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rlint.cli.shared_options import CONFIGURATION
from rlint.errors import RlintError
from rlint.file_paths import absolute

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rlint.config.settings import SettingsResolver


@click.command("config", short_help="Show the effective settings and their origins.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Output format: TOML or JSON.",
)
@CONFIGURATION[0]
@CONFIGURATION[1]
def command(paths: tuple[str, ...], output_format: str, config: tuple[str, ...], isolated: bool) -> None:
    """Show the effective settings of files or folders, and which file or option sets each one."""
    from rlint.cli.request import build_resolver

    resolver = build_resolver({}, config, isolated=isolated)
    if output_format == "json":
        click.echo(json.dumps([_data(resolver, path) for path in _existing(paths)], indent=2))
    else:
        click.echo(rendered(resolver, paths), nl=False)
    for problem in resolver.problems:
        click.echo(f"error: {problem}", err=True)


def rendered(resolver: SettingsResolver, paths: Iterable[str]) -> str:
    """Return the settings of each path as TOML, with the origin of each as a comment."""
    blocks = []
    for path in _existing(paths):
        data = _data(resolver, path)
        lines = [f"# settings for {path} ({data['config'] or 'no configuration file'})"]
        for key, entry in data["settings"].items():
            lines.append(f"{key} = {_toml(entry['value'])}  # {entry['origin']}")
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _existing(paths: Iterable[str]) -> list[str]:
    named = list(paths) or ["."]
    for path in named:
        if not (Path(path).exists() or Path(path).is_symlink()):
            raise RlintError(f"{path}: no such file or folder")
    return named


def _data(resolver: SettingsResolver, path: str) -> dict[str, Any]:
    named = absolute(path)
    settings = resolver.for_folder(named) if named.is_dir() else resolver.for_file(named)
    values = {
        key: {"value": value, "origin": origin} for key, (value, origin) in sorted(settings.origins.items())
    }
    if not named.is_dir() and settings.per_file_ignores:
        values["select"] = {**values["select"], "value": sorted(settings.codes_for(named))}
    return {"path": path, "config": str(settings.config) if settings.config else None, "settings": values}


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        pairs = ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items())
        return f"{{ {pairs} }}"
    if isinstance(value, list) and len(json.dumps(value)) > 80:
        return "[\n" + "".join(f"    {json.dumps(each)},\n" for each in value) + "]"
    return json.dumps(value)
