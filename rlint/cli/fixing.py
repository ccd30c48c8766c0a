"""`rlint fix` on files: selecting fixes, permission to apply them, and writing files."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rlint.cli.console import Console, count
from rlint.cli.working import working
from rlint.errors import RlintError
from rlint.findings import Applicability, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rlint.cli.request import Request
    from rlint.cli.targets import CheckWork
    from rlint.engine.api import Fixer
    from rlint.fixing.fix_outcome import FixOutcome
    from rlint.run_data import FixId, FixReport, Report, Target, Wanted
    from rlint.trial.trial import Tried


@dataclass(frozen=True, slots=True)
class Done:
    """Selected fixes, and their results."""

    fixed: FixReport
    unsafe: bool
    tried: Tried | None = None
    refused: Mapping[str, Problem] = field(default_factory=dict)
    """By name, the problems with writing files."""

    def outcome(self, report: Report) -> FixOutcome:
        """Return what was fixed and what remains, given the current files."""
        from rlint.fixing.fix_outcome import outcome_of

        return outcome_of(self.fixed, report, self.refused, unsafe=self.unsafe, tried=self.tried)


def chosen_fixes(work: CheckWork, targets: Sequence[Target], console: Console, wanted: Wanted | None) -> Done:
    """Return the fixes of a run, in memory: all requested ones, or those with which the verification command
    passes.

    Raises RlintError if unsafe ones would change a tree with uncommitted changes.
    """
    from rlint.engine.api import Fixer

    request, unsafe = work.request, work.settings.unsafe_fixes
    fixer = Fixer(targets, jobs=work.settings.jobs, wanted=wanted, confidence=work.settings.confidence)
    allowed = _allowed(fixer, request, unsafe=unsafe) if request.interactive else None
    if request.proven is not None:
        from rlint.cli.proven import proven_names

        allowed, unsafe = proven_names(request.proven, targets).__contains__, True
    with working(f"fixing {count(len(targets), 'file')}", quiet=request.quiet or request.silent):
        fixed = fixer.fix(unsafe=unsafe, allowed=allowed)
    if request.proven is not None:
        from rlint.cli.proven import print_applied_fixes

        print_applied_fixes(request.proven, fixed, console)
    if not (request.diff or request.allow_dirty or request.reads_stdin):
        _confirm_uncommitted(fixed)
    tried = _tried(fixer, fixed, request, console, unsafe=unsafe) if request.verify_with else None
    if tried is not None:
        fixed = tried.fixes
    fixed = replace(fixed, report=replace(fixed.report, problems=(*work.problems, *fixed.report.problems)))
    return Done(fixed, unsafe, tried)


def _allowed(fixer: Fixer, request: Request, *, unsafe: bool) -> Callable[[FixId], bool]:
    from rlint.cli.interactive import chosen_ids

    chosen = chosen_ids(fixer.offered(unsafe=unsafe), fixer.report, request)
    return chosen.__contains__


def write_fixes(done: Done) -> Done:
    """Write the fixed files, as far as possible."""
    from rlint.fixing.transaction import write

    return replace(done, refused=write(done.fixed.changed))


def _confirm_uncommitted(fixed: FixReport) -> None:
    """Ask for confirmation of, or refuse, unsafe fixes in a tree with uncommitted changes: the diff that must
    be reviewed would be mixed with others, and could not be reverted separately.
    """
    unsafe = [f for f in fixed.applied if f.fix is not None and f.fix.safety is Applicability.UNSAFE]
    if not unsafe:
        return
    from rlint.source.uncommitted import uncommitted

    found = uncommitted(changed.source.path for changed in fixed.changed)
    if found is None:
        return
    what = count(len(unsafe), "unsafe fix").replace("fixs", "fixes")
    if sys.stdin.isatty() and sys.stderr.isatty():
        click.echo(f"{found}", err=True)
        if click.confirm(f"Apply {what} anyway?", err=True):
            return
        raise RlintError("nothing was changed")
    raise RlintError(
        f"{what} would be applied, but {found}\nCommit or stash first, so that the fixes can be "
        "reviewed and reverted separately; or pass `--allow-dirty`. Nothing was changed."
    )


def _tried(fixer: Fixer, fixed: FixReport, request: Request, console: Console, *, unsafe: bool) -> Tried:
    from rlint.trial.place import TrialPlace
    from rlint.trial.trial import TrialOrder, try_fixes

    assert request.verify_with is not None
    order = TrialOrder(request.verify_with, request.verify_timeout, request.require_faster)
    tried = try_fixes(fixer, fixed, order, TrialPlace.around(Path.cwd()), unsafe=unsafe, tell=console.note)
    for left in tried.not_copied:
        how = "linked" if left.linked else "left out"
        console.detail(f"verify: {how} in the copy: {left.path} ({left.reason})")
    return tried
