"""`rlint init`."""

from __future__ import annotations

from pathlib import Path

import click

from rlint.errors import RlintError

_SETTINGS = """\
# extend-select = ["RL319"]            # opt-in rules: codes, prefixes or names
# ignore = ["busy-wait-sleep"]
# unfixable = ["RL303"]                # report these, but do not fix them
# extend-exclude = ["third_party"]
# confidence = "certain"               # leave out findings that rest on an assumption
# min-impact = "medium"                # leave out findings that save less than 1 % of a step
# hot = ["agents.base.Agent.learn"]    # functions that run often, though no caller is visible
# accelerator = true                   # devices that the code leaves open are accelerators
"""
_IGNORES = """\
# [{prefix}per-file-ignores]
# "examples/*" = ["RL6"]
"""
_HOOK = """\
  - repo: https://github.com/your-organisation/rlint
    rev: v{version}
    hooks:
      - id: rlint-check
"""


@click.command("init", short_help="Write a configuration to start from.")
@click.option("--pre-commit", is_flag=True, help="Add a hook to .pre-commit-config.yaml, too.")
@click.option("--baseline", is_flag=True, help="Accept today's findings: list them in rlint-baseline.json.")
@click.pass_context
def command(ctx: click.Context, pre_commit: bool, baseline: bool) -> None:
    """Write a commented configuration into this folder: `[tool.rlint]` in pyproject.toml, or rlint.toml where
    there is none.

    Existing files are not changed: a configuration that already exists is an error.
    """
    from rlint.config.options import find_config

    folder = Path.cwd()
    known = find_config(folder)
    if known is not None:
        raise RlintError(f"{known.name} configures rlint already; `rlint config` shows the settings")
    hooks = folder / ".pre-commit-config.yaml"
    text = _with_hook(hooks) if pre_commit else None
    _write_settings(folder, 'baseline = "rlint-baseline.json"\n' if baseline else "")
    if text is not None:
        _write(hooks, text)
        click.echo(f"added the hook `rlint-check` to {hooks.name}")
    if baseline:
        from rlint.cli.commands.check_command import command as check

        ctx.invoke(check, **check.make_context("check", ["--write-baseline"]).params)


def _write_settings(folder: Path, first: str) -> None:
    project = folder / "pyproject.toml"
    if project.is_file():
        before = _read(project)
        gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
        table = f"[tool.rlint]\n{first}{_SETTINGS}\n{_IGNORES.format(prefix='tool.rlint.')}"
        _write(project, f"{before}{gap}{table}")
        click.echo(f"added [tool.rlint] to {project.name}")
    else:
        _write(folder / "rlint.toml", f"{first}{_SETTINGS}\n{_IGNORES.format(prefix='')}")
        click.echo("wrote rlint.toml")


def _with_hook(path: Path) -> str | None:
    """Return the text of a pre-commit configuration with the hook; None if it is there already."""
    from rlint import __version__

    hook = _HOOK.format(version=__version__)
    before = _read(path) if path.is_file() else ""
    if "id: rlint-check" in before:
        return None
    if not before.strip():
        return f"repos:\n{hook}"
    lines = before.splitlines(keepends=True)
    at = next((index for index, line in enumerate(lines) if line.rstrip() == "repos:"), None)
    if at is None:
        raise RlintError(f"{path.name} has no line `repos:` to add the hook below; add it yourself:\n{hook}")
    items = [line for line in lines[at + 1 :] if line.lstrip().startswith("- ")]
    indent = len(items[0]) - len(items[0].lstrip()) if items else 2
    moved = "".join(f"{' ' * indent}{line[2:]}" for line in hook.splitlines(keepends=True))
    return "".join([*lines[: at + 1], moved, *lines[at + 1 :]])


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RlintError(f"{path.name}: cannot be read: {error}") from error


def _write(path: Path, text: str) -> None:
    from rlint.source.atomic_write import replace_file

    try:
        replace_file(path, text.encode("utf-8"))
    except OSError as error:
        raise RlintError(f"{path.name}: cannot be written: {error.strerror}") from error
