"""`rlint survey`: from options to findings in the store."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from rlint.cli.progress import progress_on
from rlint.cli.rule_figures import rule_figures
from rlint.errors import RlintError
from rlint.output.terminal import printable
from rlint.survey.extra import needed
from rlint.survey.on_ray import RayExecutor, cluster
from rlint.survey.result_store import ResultStore
from rlint.survey.run_records import date_of, finish_run, folder_of, last_run, new_name, write_run
from rlint.survey.survey_report import PAGE, page_of, summary
from rlint.survey.survey_run import survey
from rlint.survey.task_data import SurveyOptions
from rlint.survey.tool_digest import options_digest, tool_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlint.survey.executors import Executor
    from rlint.survey.repository_list import SurveyedRepository

_LISTS = ("select", "extend-select", "ignore")
_VALUES = ("confidence", "min-impact")


def run(repositories: Sequence[SurveyedRepository], options: dict[str, Any]) -> int:
    """Check repositories on a cluster; return the exit status."""
    if not hasattr(os, "fork"):
        raise RlintError("`rlint survey` needs Linux or macOS: each check is a fork")
    for module in ("ray", "pyarrow", "fsspec"):
        needed(module)
    queried = options_of(options)
    store = ResultStore(queried.store)
    if options["address"] and _is_path(options["store"]) and not options["quiet"]:
        click.echo(f"note: {store.name} must be a folder that all nodes share; else name a URL", err=True)
    with cluster(options["address"], options["jobs"]) as ray:
        return _run(repositories, queried, store, RayExecutor(ray), options)


def options_of(options: dict[str, Any]) -> SurveyOptions:
    """Return the meaning of the options, after checking the settings."""
    from rlint.cli.request import build_resolver

    overrides: dict[str, Any] = {}
    for name in _LISTS:
        given = [item.strip() for each in options[name.replace("-", "_")] for item in each.split(",")]
        if given:
            overrides[name] = given
    for name in _VALUES:
        if options[name.replace("-", "_")] is not None:
            overrides[name] = options[name.replace("-", "_")]
    build_resolver(overrides, (), isolated=True)
    url = options["store"]
    return SurveyOptions(
        os.path.abspath(url) if _is_path(url) else url,
        tool_digest(),
        overrides,
        options["repository_config"],
        options["time_limit"],
        int(options["memory_limit"] * 2**30),
        int(options["part_size"] * 1_000_000),
    )


def _is_path(url: str) -> bool:
    return "://" not in url and "::" not in url


def _run(
    repositories: Sequence[SurveyedRepository],
    queried: SurveyOptions,
    store: ResultStore,
    executor: Executor,
    options: dict[str, Any],
) -> int:
    def tell(what: str) -> None:
        click.echo(f"rlint: {printable(what)}", err=True)

    before, name = last_run(store), new_name()
    with progress_on(sys.stderr, quiet=options["quiet"], label="survey") as progress:
        progress.expect(len(repositories))
        done = 0

        class Counter:
            """Counts completed repositories, for the message after Ctrl-C."""

            def advance(self, steps: int = 1) -> None:
                """Record completed repositories."""
                nonlocal done
                done += steps
                progress.advance(steps)

        try:
            results = survey(
                repositories, queried, executor, retries=options["retries"], progress=Counter(), tell=tell
            )
            progress.begin("writing findings")
            found = write_run(queried.store, name, results, before, executor)
        except KeyboardInterrupt:
            tell(
                f"interrupted: {done} of {len(repositories)} repositories are done; the same command resumes"
            )
            raise click.Abort from None
    settings = options_digest(queried.overrides, configured=queried.configured)
    codes = {code for code, one in found.rules.items() if one.findings}
    measured = {code: each.line for code, each in rule_figures(codes, None).items() if each.line}
    date = date_of(name)
    store.write(f"{folder_of(name)}/{PAGE}", page_of(found, date, before, settings, measured).encode())
    finish_run(store, name, settings, results)
    for line in summary(found, results, before, store, name):
        click.echo(printable(line))
    if all(each.reason for each in results):
        return 2
    return 1 if found.rows or any(each.reason for each in results) else 0
