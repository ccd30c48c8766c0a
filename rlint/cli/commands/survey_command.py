"""`rlint survey`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rlint.cli.shared_options import offer_rules
from rlint.config.options import CONFIDENCES, IMPACTS

_FILE = click.Path(dir_okay=False, exists=True, path_type=Path)
_FROM = "File with one repository per line (repeatable)."
_ADDRESS = "Address of a Ray cluster, or `auto` (default: start Ray on this machine)."
_STORE = "Folder or fsspec URL for results, readable on all nodes (default: .rlint_survey)."
_PART = "Check a repository with more source than this in parts."
_CONFIGURED = (
    "Apply the configuration files of the repositories, without their plugins (default: ignore them)."
)
_RETRIES = "Number of retries of a task that is lost with its worker or node."


@click.command("survey", short_help="Check many repositories on a Ray cluster.")
@click.argument("repositories", nargs=-1, metavar="[FOLDER | URL[#REVISION]]...")
@click.option("--from", "files", type=_FILE, multiple=True, metavar="FILE", help=_FROM)
@click.option("--address", metavar="ADDRESS", help=_ADDRESS)
@click.option("--store", default=".rlint_survey", envvar="RLINT_STORE", metavar="URL", help=_STORE)
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Number of workers of a local Ray."
)
@click.option(
    "--select", multiple=True, metavar="RULES", shell_complete=offer_rules, help="Enable only these rules."
)
@click.option(
    "--extend-select",
    multiple=True,
    metavar="RULES",
    shell_complete=offer_rules,
    help="Also enable these rules.",
)
@click.option(
    "--ignore", multiple=True, metavar="RULES", shell_complete=offer_rules, help="Disable these rules."
)
@click.option(
    "--confidence", type=click.Choice(CONFIDENCES), help="Lowest confidence to report (default: likely)."
)
@click.option("--min-impact", type=click.Choice(IMPACTS), help="Lowest impact to report (default: all).")
@click.option("--repository-config", is_flag=True, help=_CONFIGURED)
@click.option(
    "--time-limit", type=click.FloatRange(min=1), default=300.0, show_default=True, metavar="SECONDS",
    help="Stop a task that takes longer.",
)  # fmt: skip
@click.option(
    "--memory-limit", type=click.FloatRange(min=0.1), default=2.0, show_default=True, metavar="GIB",
    help="Stop a task that uses more memory.",
)  # fmt: skip
@click.option(
    "--part-size", type=click.FloatRange(min=0.001), default=4.0, show_default=True, metavar="MB", help=_PART
)
@click.option(
    "--retries", type=click.IntRange(min=0), default=3, show_default=True, metavar="N", help=_RETRIES
)
@click.option("-q", "--quiet", is_flag=True, help="Hide progress output.")
def command(repositories: tuple[str, ...], files: tuple[Path, ...], **options: Any) -> None:
    """Check many repositories on a Ray cluster, and write the findings as Parquet with a page about them.

    Repositories are folders that all nodes can read, or URLs of git repositories. Repositories that did not
    change since an earlier run with the same --store are not checked again; so an interrupted run resumes
    where it stopped. Nothing of the repositories is imported or executed.

    Exits with 0 if there are no findings, 1 if there are or a repository could not be checked, 2 if nothing
    could be checked.
    """
    from rlint.survey.repository_list import listed
    from rlint.survey.survey_session import run

    found = listed(repositories, files)
    if not found:
        raise click.UsageError("name the repositories, or a file that lists them: `rlint survey --from FILE`")
    click.get_current_context().exit(run(found, options))
