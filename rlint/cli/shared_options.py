"""The options that `rlint check` and `rlint fix` share, with the names of ruff's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from rlint.cli.request import Request
from rlint.config.options import CONFIDENCES, IMPACTS, OUTPUT_FORMATS

Command = Callable[..., Any]


def offer_rules(_: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Complete the name or code of a rule in a shell."""
    from rlint.cli.commands.completion_command import rules

    return rules(parameter, incomplete)


def _items(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> list[str] | None:
    return [item.strip() for value in values for item in value.split(",")] if values else None


def _table(
    ctx: click.Context, option: click.Parameter, values: tuple[str, ...]
) -> dict[str, list[str]] | None:
    table: dict[str, list[str]] = {}
    for item in _items(ctx, option, values) or ():
        pattern, colon, selector = item.rpartition(":")
        if not (colon and pattern and selector):
            raise click.BadParameter(f"{item!r} is not of the form PATTERN:RULE", ctx, option)
        table.setdefault(pattern.strip(), []).append(selector.strip())
    return table or None


def _option(*names: str, text: str, **more: Any) -> Callable[[Command], Command]:
    """Return an option that an environment variable may set, too: RLINT_SELECT for `--select`."""
    first = next(name for name in names if name.startswith("--")).partition("/")[0]
    variable = "RLINT_" + first.removeprefix("--").upper().replace("-", "_")
    return click.option(*names, envvar=variable, help=text, **more)


def _list(name: str, metavar: str, text: str, **more: Any) -> Callable[[Command], Command]:
    offered: dict[str, Any] = {"shell_complete": offer_rules} if metavar == _RULES else {}
    return _option(name, text=text, multiple=True, metavar=metavar, callback=_items, **offered, **more)


def _ignores(name: str, text: str) -> Callable[[Command], Command]:
    return _option(name, text=text, multiple=True, metavar="PATTERN:RULE", callback=_table)


def _flag(*names: str, text: str, **more: Any) -> Callable[[Command], Command]:
    return click.option(*names, is_flag=True, help=text, **more)


def _setting(*names: str, text: str) -> Callable[[Command], Command]:
    """Return a flag that a configuration or the environment may set, too; None if it is not given."""
    return _option(*names, text=text, is_flag=True, default=None)


_RULES = "RULES"

_JOBS = "Number of worker processes (default: one per core)."
_CACHE = "Folder of the cache (default: .rlint_cache beside the configuration file)."

_CONFIDENCE = "Lowest confidence to report (default: likely; a likely finding names its assumption)."
_MIN_IMPACT = "Lowest impact to report (default: all; text output only counts findings of low impact)."

_TARGET_VERSION = "Oldest supported Python, which fixes must not exceed (default: `requires-python`)."
_LIBRARY_VERSION = "Oldest supported {} (default: the lower bound in the project's dependencies)."

OVERRIDES = (
    _list(
        "--select",
        _RULES,
        "Enable only these rules: comma-separated codes, prefixes (RL1), names or ALL.",
    ),
    _list("--ignore", _RULES, "Disable these rules."),
    _list("--extend-select", _RULES, "Also enable these rules."),
    _list("--extend-ignore", _RULES, "The same as --ignore.", hidden=True),
    _ignores("--per-file-ignores", "Disable a rule in files that match a pattern."),
    _ignores("--extend-per-file-ignores", "Like --per-file-ignores, in addition to the configured ones."),
    _list("--exclude", "PATTERNS", "Skip these files and folders, instead of the configured ones."),
    _list(
        "--extend-exclude", "PATTERNS", "Skip these files and folders, in addition to the configured ones."
    ),
    _setting(
        "--force-exclude/--no-force-exclude",
        text="Skip excluded files even when they are named on the command line.",
    ),
    _setting("--respect-gitignore/--no-respect-gitignore", text="Skip git-ignored files (default)."),
    _setting("--unsafe-fixes/--no-unsafe-fixes", text="Also count and apply unsafe fixes."),
    _list("--fixable", _RULES, "Rules whose fixes may be applied (default: ALL)."),
    _list("--unfixable", _RULES, "Rules whose fixes are never applied."),
    _list(
        "--extend-fixable",
        _RULES,
        "Rules whose fixes may be applied, in addition to the configured ones.",
        hidden=True,
    ),
    _option("--target-version", metavar="VERSION", text=_TARGET_VERSION),
    _option("--torch-version", metavar="VERSION", text=_LIBRARY_VERSION.format("torch")),
    _option("--numpy-version", metavar="VERSION", text=_LIBRARY_VERSION.format("numpy")),
    _option("--output-format", type=click.Choice(OUTPUT_FORMATS), show_envvar=True, text="Output format."),
    _option("--confidence", type=click.Choice(CONFIDENCES), text=_CONFIDENCE),
    _option("--min-impact", type=click.Choice(IMPACTS), text=_MIN_IMPACT),
    _option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", text=_JOBS),
    _option("--baseline", metavar="FILE", text="Hide findings that are listed in this file."),
    _option("--cache-dir", metavar="FOLDER", text=_CACHE),
)

_SINCE = "Report and fix only findings on lines that changed since this git revision."
_WRITE_BASELINE = (
    "Write all findings to a file for `--baseline` (default: the configured file, or rlint-baseline.json)."
)

_BASELINE_OPTION = "--write-baseline"

_CONFIG = "Configuration file, or a single setting: --config 'select = [\"RL1\"]'."

CONFIGURATION = (
    click.option("--config", multiple=True, metavar="FILE|KEY=VALUE", help=_CONFIG),
    _option("--isolated", is_flag=True, text="Ignore all configuration files."),
)

RUN = (
    click.option(
        "-o",
        "--output-file",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Write the report to this file.",
    ),
    _flag("--diff", text="Print the fixes as a diff and change no file."),
    _flag("--allow-dirty", text="Apply unsafe fixes even if the tree has uncommitted changes."),
    _flag("--fix-only", text="Apply fixes and do not report the remaining findings; exit with 0."),
    _flag("--show-fixes", text="List what was fixed."),
    _flag("--no-fold", text="Show every finding in full, even if many are similar."),
    _flag("--statistics", text="Print the number of findings of each rule instead of the findings."),
    _flag("--exit-zero", text="Exit with 0 even if there are findings."),
    _flag("--exit-non-zero-on-fix", text="Exit with 1 if anything was fixed, even if no findings remain."),
    _flag("--show-files", text="List the files that would be checked, and exit."),
    _flag("--show-settings", text="Show the effective settings, as `rlint config` does, and exit."),
    click.option("--since", metavar="REV", help=_SINCE),
    _flag("--no-baseline", text="Ignore the configured baseline."),
    click.option(_BASELINE_OPTION, metavar="[=FILE]", is_flag=False, flag_value="", help=_WRITE_BASELINE),
    _flag("--ignore-noqa", text="Also report suppressed findings."),
    click.option(
        "--stdin-filename", metavar="PATH", help="File name of the code that is read from standard input."
    ),
    click.option(
        "--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to use colours."
    ),
    click.option(
        "--profile",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Rank findings by a recorded profile.",
    ),
    click.option(
        "--proof",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Rank findings by the gains that `rlint prove` measured.",
    ),
    click.option(
        "--min-share",
        type=click.FloatRange(0, 100),
        metavar="PERCENT",
        help="With --profile: hide findings with a smaller share of the run.",
    ),
    _option("-n", "--no-cache", is_flag=True, text="Do not read or write the cache."),
    _flag("-q", "--quiet", text="Print only findings and errors."),
    _flag("-s", "--silent", text="Print only errors."),
    _flag("-v", "--verbose", text="Print details of the run, and tracebacks of errors."),
)


class RunCommand(click.Command):
    """A command whose `--write-baseline` uses the next word as its file only if that ends in `.json`; any
    other word is a path to check. `--write-baseline=FILE` names any file.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Join the option and its file, or mark that it has none, before click parses either."""
        end = args.index("--") if "--" in args else len(args)
        if _BASELINE_OPTION in args[:end]:
            place = args.index(_BASELINE_OPTION)
            files = [word for word in args[place + 1 : min(place + 2, end)] if word.endswith(".json")]
            args = [
                *args[:place],
                "=".join([_BASELINE_OPTION, *(files or [""])]),
                *args[place + 1 + len(files) :],
            ]
        return super().parse_args(ctx, args)


def _refuse_contradictions(options: dict[str, Any]) -> None:
    if options["write_baseline"] is None:
        return
    if options["write_baseline"].startswith("-"):
        raise click.UsageError(f"`--write-baseline` needs a file, not {options['write_baseline']!r}")
    if options["write_baseline"].endswith((".py", ".ipynb")):
        raise click.UsageError(
            f"`--write-baseline={options['write_baseline']}` would write JSON into a file that is checked as"
            " Python; name the baseline so that it ends in `.json`"
        )
    for name in ("since", "diff", "statistics", "add_noqa", "ignore_noqa", "stdin_filename"):
        if options.get(name):
            raise click.UsageError(f"`--write-baseline` and `--{name.replace('_', '-')}` exclude each other")


def shared_options(command: Callable[[Request], int]) -> Command:
    """Add the paths and options of a run to `command`; call it with one Request, and exit with its status."""

    def build(paths: tuple[str, ...], **options: Any) -> None:
        from rlint.config.options import KEYS

        keys = [name for name in options if name.replace("_", "-") in KEYS]
        overrides = {name.replace("_", "-"): options.pop(name) for name in keys}
        if options["exit_zero"] and options["exit_non_zero_on_fix"]:
            raise click.UsageError("`--exit-zero` and `--exit-non-zero-on-fix` exclude each other")
        _refuse_contradictions(options)
        if options["fix_only"]:
            if overrides.get("fix") is False:
                raise click.UsageError("`--fix-only` and `--no-fix` exclude each other")
            overrides["fix"] = True
        if options["min_share"] is not None and options["profile"] is None:
            raise click.UsageError("`--min-share` needs a `--profile`; `rlint profile` records one")
        status = command(Request(paths=paths or (".",), overrides=overrides, **options))
        click.get_current_context().exit(status)

    build.__doc__ = command.__doc__
    decorated: Command = build
    for option in reversed((*OVERRIDES, *RUN, *CONFIGURATION)):
        decorated = option(decorated)
    return click.argument("paths", nargs=-1, metavar="[PATHS]...")(decorated)
