"""The options that `rlint check` and `rlint fix` share, named as users of ruff know them."""

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


def _list(name: str, metavar: str, text: str, **more: Any) -> Callable[[Command], Command]:
    offered: dict[str, Any] = {"shell_complete": offer_rules} if metavar == _RULES else {}
    return click.option(name, multiple=True, metavar=metavar, callback=_items, help=text, **offered, **more)


def _ignores(name: str, text: str) -> Callable[[Command], Command]:
    return click.option(name, multiple=True, metavar="PATTERN:RULE", callback=_table, help=text)


def _flag(*names: str, text: str, **more: Any) -> Callable[[Command], Command]:
    return click.option(*names, is_flag=True, help=text, **more)


_RULES = "RULES"

_CACHE = "Where results are kept for the next run (default: .rlint_cache beside the configuration)."

_CONFIDENCE = (
    "Report findings that are at least this sure (default: likely; a likely finding names what it assumes)."
)
_MIN_IMPACT = (
    "Report findings of at least this impact (default: all; text output only counts those of low impact)."
)

OVERRIDES = (
    _list(
        "--select",
        _RULES,
        "Check for these rules only: codes, prefixes (RL1), names or ALL, with commas between.",
    ),
    _list("--ignore", _RULES, "Leave these rules out."),
    _list("--extend-select", _RULES, "Check for these rules, too."),
    _list("--extend-ignore", _RULES, "The same as --ignore.", hidden=True),
    _ignores("--per-file-ignores", "Leave a rule out in files that match a pattern."),
    _ignores("--extend-per-file-ignores", "The same, in addition to the configured ones."),
    _list("--exclude", "PATTERNS", "Pass over these files and folders, instead of the configured ones."),
    _list("--extend-exclude", "PATTERNS", "Pass over these files and folders, too."),
    _flag("--force-exclude/--no-force-exclude", default=None, text="Pass over excluded files even if named."),
    _flag(
        "--respect-gitignore/--no-respect-gitignore",
        default=None,
        text="Pass over what git ignores (default).",
    ),
    _flag(
        "--unsafe-fixes/--no-unsafe-fixes",
        default=None,
        text="Count and apply fixes that a reader must agree to.",
    ),
    _list("--fixable", _RULES, "Rules whose fixes may be applied (default: ALL)."),
    _list("--unfixable", _RULES, "Rules that are reported without a fix."),
    _list("--extend-fixable", _RULES, "Further rules whose fixes may be applied.", hidden=True),
    click.option(
        "--output-format",
        type=click.Choice(OUTPUT_FORMATS),
        envvar="RLINT_OUTPUT_FORMAT",
        show_envvar=True,
        help="How findings are printed.",
    ),
    click.option("--confidence", type=click.Choice(CONFIDENCES), help=_CONFIDENCE),
    click.option("--min-impact", type=click.Choice(IMPACTS), help=_MIN_IMPACT),
    click.option(
        "-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes (default: one a core)."
    ),
    click.option("--baseline", metavar="FILE", help="Hide the findings that are listed there."),
    click.option("--cache-dir", metavar="FOLDER", envvar="RLINT_CACHE_DIR", help=_CACHE),
)

_SINCE = "Report and fix only what touches lines that changed since this revision of git."
_WRITE_BASELINE = (
    "List all findings in a file for `--baseline` (default: the configured one, or rlint-baseline.json)."
)

_BASELINE_OPTION = "--write-baseline"

_CONFIG = "A configuration file, or one setting: --config 'select = [\"RL1\"]'."

CONFIGURATION = (
    click.option("--config", multiple=True, metavar="FILE|KEY=VALUE", help=_CONFIG),
    _flag("--isolated", text="Look for no configuration files."),
)

RUN = (
    click.option(
        "-o", "--output-file", type=click.Path(dir_okay=False, path_type=Path), help="Write the report there."
    ),
    _flag("--diff", text="Print what fixing would change, and change nothing."),
    _flag("--allow-dirty", text="Apply unsafe fixes to a tree with uncommitted changes, too."),
    _flag("--show-fixes", text="List what was fixed."),
    _flag("--no-fold", text="Show every finding in full, however many are alike."),
    _flag("--statistics", text="Count the findings of each rule instead of showing them."),
    _flag("--exit-zero", text="Exit with 0 even if there are findings."),
    _flag("--exit-non-zero-on-fix", text="Exit with 1 if anything was fixed, even if nothing remains."),
    _flag("--show-files", text="List the files that would be checked."),
    _flag("--show-settings", text="Show the effective settings, as `rlint config` does."),
    click.option("--since", metavar="REV", help=_SINCE),
    _flag("--no-baseline", text="Hide nothing, whatever baseline is configured."),
    click.option(_BASELINE_OPTION, metavar="[=FILE]", is_flag=False, flag_value="", help=_WRITE_BASELINE),
    _flag("--ignore-noqa", text="Report suppressed findings, too."),
    click.option("--stdin-filename", metavar="PATH", help="The name of what is read from standard input."),
    click.option(
        "--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Use of colours."
    ),
    click.option(
        "--profile", type=click.Path(path_type=Path), metavar="FILE", help="Rank findings by a profiled run."
    ),
    click.option(
        "--min-share",
        type=click.FloatRange(0, 100),
        metavar="PERCENT",
        help="With --profile: leave out what takes less of the run.",
    ),
    _flag("-n", "--no-cache", text="Use no results of earlier runs, and keep none."),
    _flag("-q", "--quiet", text="Print findings and errors only."),
    _flag("-s", "--silent", text="Print errors only."),
    _flag("-v", "--verbose", text="Say what is done, and show tracebacks."),
)


class RunCommand(click.Command):
    """A command whose `--write-baseline` has the word after it for its file only if that ends in `.json`;
    what else follows it is what to check. `--write-baseline=FILE` names any file.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Join the option and its file, or say that it has none, before click does either."""
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
    """Give `command` the paths and options of a run; call it with one Request, and exit with its status."""

    def build(paths: tuple[str, ...], **options: Any) -> None:
        from rlint.config.options import KEYS

        keys = [name for name in options if name.replace("_", "-") in KEYS]
        overrides = {name.replace("_", "-"): options.pop(name) for name in keys}
        if options["exit_zero"] and options["exit_non_zero_on_fix"]:
            raise click.UsageError("`--exit-zero` and `--exit-non-zero-on-fix` exclude each other")
        _refuse_contradictions(options)
        if options["min_share"] is not None and options["profile"] is None:
            raise click.UsageError("`--min-share` needs a `--profile`; `rlint profile` records one")
        status = command(Request(paths=paths or (".",), overrides=overrides, **options))
        click.get_current_context().exit(status)

    build.__doc__ = command.__doc__
    decorated: Command = build
    for option in reversed((*OVERRIDES, *RUN, *CONFIGURATION)):
        decorated = option(decorated)
    return click.argument("paths", nargs=-1, metavar="[PATHS]...")(decorated)
