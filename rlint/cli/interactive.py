"""`rlint fix --interactive`: each fix is shown and confirmed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from rlint.errors import RlintError
from rlint.findings import Applicability

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlint.cli.request import Request
    from rlint.findings import Finding
    from rlint.run_data import FixId, Report

_HELP = """\
y  apply this fix
n  skip this finding
a  apply this fix and all later fixes of {code}
s  skip this finding and all later findings of {code}
q  quit; apply the fixes chosen so far
c  cancel: change nothing"""


def chosen_ids(offered: Mapping[FixId, Finding], report: Report, request: Request) -> frozenset[FixId]:
    """Ask about each fix, in the order of the files, and return those to apply.

    Raises RlintError if the user cancels or standard input ends.
    """
    from rlint.cli.console import terminal_width
    from rlint.output import ReportOptions, reporter

    render = reporter("full")
    options = ReportOptions(unsafe_fixes=True, color=request.colored, width=terminal_width(), summary=False)
    chosen: set[FixId] = set()
    of_rule: dict[str, bool] = {}
    for number, (name, finding) in enumerate(offered.items(), 1):
        answer = of_rule.get(finding.code)
        if answer is None:
            click.echo(
                render(replace(report, findings=(finding,), problems=(), hidden=()), options), nl=False
            )
            letter = _prompt(finding, f"{number} of {len(offered)}")
            if letter == "q":
                break
            answer = letter in "ya"
            if letter in "as":
                of_rule[finding.code] = answer
        if answer:
            chosen.add(name)
    return frozenset(chosen)


def _prompt(finding: Finding, place: str) -> str:
    unsafe = finding.fix is not None and finding.fix.safety is Applicability.UNSAFE
    question = f"[{place}] apply this {'unsafe ' if unsafe else ''}fix? [y,n,a,s,q,c,?]"
    while True:
        try:
            letter = (
                click.prompt(question, default="n", show_default=False, prompt_suffix=" ").strip().lower()[:1]
            )
        except click.Abort as error:
            raise RlintError("nothing was changed") from error
        if letter == "c":
            raise RlintError("nothing was changed")
        if letter and letter in "ynasq":
            return letter
        click.echo(_HELP.format(code=finding.code))
