"""The request of one run of `rlint check` or `rlint fix`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlint.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlint.config.settings import SettingsResolver
    from rlint.engine.group_results import GroupResults


@frozen
class Request:
    """The parsed command line. `overrides` are the options that a configuration could also contain."""

    paths: tuple[str, ...]
    overrides: Mapping[str, Any]
    config: tuple[str, ...] = ()
    isolated: bool = False
    diff: bool = False
    output_file: Path | None = None
    statistics: bool = False
    exit_zero: bool = False
    exit_non_zero_on_fix: bool = False
    show_files: bool = False
    show_settings: bool = False
    show_fixes: bool = False
    fix_only: bool = False
    interactive: bool = False
    add_noqa: bool = False
    ignore_noqa: bool = False
    command: str = "check"
    allow_dirty: bool = False
    verify_with: str | None = None
    verify_timeout: float | None = None
    """Seconds."""
    require_faster: bool = False
    since: str | None = None
    no_baseline: bool = False
    write_baseline: str | None = None
    """The file, or "" for the configured one."""
    stdin_filename: str | None = None
    color: str = "auto"
    no_fold: bool = False
    quiet: bool = False
    silent: bool = False
    verbose: bool = False
    no_cache: bool = False
    profile: Path | None = None
    proof: Path | None = None
    proven: Path | None = None
    min_share: float | None = None
    """Percent of the run."""
    watch: bool = False
    plugins: bool = True
    """Whether configurations may name plugins."""
    groups: GroupResults | None = None
    """Selects the groups of files to check and stores their results, in place of the cache."""

    @property
    def reads_stdin(self) -> bool:
        """Whether the program to check comes from standard input."""
        return self.stdin_filename is not None or self.paths == ("-",)

    @property
    def colored(self) -> bool:
        """Whether the report may use colours."""
        from rlint.cli.terminals import wants_color

        return wants_color(self.color, to_file=self.output_file is not None)


def build_resolver(
    overrides: Mapping[str, Any], config: tuple[str, ...], *, isolated: bool, plugins: bool = True
) -> SettingsResolver:
    """Combine command line, `--config` and configuration files, relative to the working folder."""
    from rlint.config.options import inline_layer, option_layer
    from rlint.config.settings import SettingsResolver
    from rlint.errors import RlintError

    root = Path.cwd()
    files = [text for text in config if "=" not in text or Path(text).is_file()]
    inline = tuple(text for text in config if text not in files)
    for file in files:
        if not Path(file).is_file():
            raise RlintError(f"`--config` is {file!r}, which is neither a file nor `key = value`")
    if len(files) > 1:
        raise RlintError(
            "`--config` can name only one file; further uses must set single keys: `key = value`"
        )
    if files and isolated:
        raise RlintError("`--config FILE` and `--isolated` exclude each other")
    layers = [inline_layer(inline, root)] if inline else []
    layers.append(option_layer(overrides, root))
    return SettingsResolver(
        root,
        config=Path(files[0]) if files else None,
        isolated=isolated,
        overrides=layers,
        plugins=plugins,
    )
