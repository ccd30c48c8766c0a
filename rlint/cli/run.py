"""`rlint check` and `rlint fix`: from a request to an exit status."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rlint.cli.ahead import workers_ahead
from rlint.cli.console import Console, count
from rlint.cli.profiled import profiled_of
from rlint.cli.report import CLEAN, FAILED, list_fixes, show, show_diff
from rlint.cli.scope import CheckScope, write_baseline
from rlint.cli.targets import CheckWork, StandardInput, read_stdin, with_files, with_settings
from rlint.cli.working import working
from rlint.errors import RlintError
from rlint.findings import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlint.cli.fixing import Done
    from rlint.cli.profiled import Profiled
    from rlint.cli.request import Request
    from rlint.engine.pool.workers import Workers
    from rlint.run_data import Changed, Report, Target


def run(request: Request) -> int:
    """Run the request."""
    started = time.perf_counter()
    console = Console(request)
    work = with_settings(request)
    with workers_ahead(work) as workers:
        work = with_files(work)
        if request.show_settings or request.show_files:
            return _list(work, console)
        console.detail(f"settings: {work.settings.config or 'defaults, no configuration file'}")
        if request.reads_stdin:
            return _run_stdin(work, console)
        if not work.paths and not work.problems:
            console.note(
                "warning: no Python files found under the given paths; excluded and git-ignored "
                "files are skipped (`rlint config` shows the settings, `--no-respect-gitignore` "
                "includes git-ignored files)"
            )
        targets = work.targets()
        profiled = profiled_of(work, targets)
        if profiled is not None:
            targets = profiled.heated(targets)
        if targets and not any(target.codes for target in targets):
            console.note("warning: no rules are selected")
        _warn_of_unknown_names(targets, console)
        scope = CheckScope(work, targets)
        if request.add_noqa:
            from rlint.cli.noqa import add_comments

            return add_comments(work, scope, console)
        if work.settings.fix or request.diff:
            status = _fix(work, scope, console, profiled)
        else:
            status = _show(work, scope, _check(work, scope.targets, workers), console, profiled=profiled)
        console.detail(f"{count(len(targets), 'file')} in {time.perf_counter() - started:.2f} s")
        return status


def _warn_of_unknown_names(targets: Sequence[Target], console: Console) -> None:
    """Warn of declared names in a configuration that do not exist."""
    if all(target.declared.says_nothing for target in targets):
        return
    from rlint.engine.declared_names import unknown_names

    for warning in unknown_names(targets):
        console.note(f"warning: {warning}")


def _list(work: CheckWork, console: Console) -> int:
    """Print the settings, or the files that would be checked."""
    request = work.request
    if request.show_settings:
        from rlint.cli.commands.config_command import rendered

        program = Path(request.stdin_filename or "-")
        named = [str(program.parent)] if request.reads_stdin else list(request.paths)
        console.report(rendered(work.resolver, named))
        return CLEAN
    console.problems(work.problems)
    targets = CheckScope(work, work.targets()).targets
    console.report("\n".join(str(target.path) for target in targets if target.codes is not None))
    return FAILED if work.problems and not work.paths else CLEAN


def _fix(work: CheckWork, scope: CheckScope, console: Console, profiled: Profiled | None) -> int:
    """Fix the files, or show the changes."""
    from rlint.cli.fixing import write_fixes

    done = _chosen(work, scope, console, profiled)
    fixed = done.fixed
    if work.request.diff:
        return show_diff(work, fixed, done.outcome(scope.limited(fixed.report)), console)
    done = write_fixes(done)
    list_fixes(work, [finding for finding in fixed.applied if finding.path not in done.refused], console)
    # If a file could not be written, its content is not what the report describes.
    report = _check(work, scope.targets) if done.refused else fixed.report
    problems = (*report.problems, *done.refused.values())
    report = replace(report, problems=problems, hidden=fixed.report.hidden)
    return _show(work, scope, report, console, done=done, profiled=profiled)


def _chosen(work: CheckWork, scope: CheckScope, console: Console, profiled: Profiled | None) -> Done:
    """Fix in memory what the run's scope and its profile allow."""
    from rlint.cli.fixing import chosen_fixes

    wanted = scope.wanted
    if profiled is not None:
        wanted = profiled.before_fixing(_check(work, scope.targets), wanted)
    return chosen_fixes(work, scope.targets, console, wanted)


def _show(
    work: CheckWork,
    scope: CheckScope,
    report: Report,
    console: Console,
    *,
    done: Done | None = None,
    err: bool = False,
    profiled: Profiled | None = None,
) -> int:
    """Print the part of a report in the run's scope, or write it to the baseline; return the exit status."""
    if work.request.write_baseline is not None:
        return write_baseline(work, scope.targets, report)
    limited = scope.limited(report)
    if work.request.fix_only:
        limited = replace(limited, findings=(), hidden=())
    heating = None
    if profiled is not None:
        limited, heating = profiled.ranked(limited)
    outcome = done.outcome(limited) if done is not None else None
    if profiled is not None and outcome is not None and heating is not None:
        heating = profiled.with_fixed(heating, outcome)
    status = show(work, limited, console, outcome=outcome, err=err, heating=heating)
    scope.remark(limited)
    return status


def _run_stdin(work: CheckWork, console: Console) -> int:
    given = read_stdin(work)
    if work.request.add_noqa:
        raise RlintError("`--add-noqa` changes files; it cannot be used with standard input")
    if isinstance(given.source, Problem):
        work = replace(work, problems=(*work.problems, given.source))
    profiled = profiled_of(work, given.targets)
    scope = CheckScope(work, profiled.heated(given.targets) if profiled is not None else given.targets)
    if not (work.settings.fix or work.request.diff):
        return _show(work, scope, _check(work, scope.targets), console, profiled=profiled)
    done = _chosen(work, scope, console, profiled)
    fixed = done.fixed
    if work.request.diff:
        return show_diff(work, fixed, done.outcome(scope.limited(fixed.report)), console)
    sys.stdout.flush()
    sys.stdout.buffer.write(_fixed_bytes(given, fixed.changed))
    sys.stdout.buffer.flush()
    return _show(work, scope, fixed.report, console, done=done, err=True, profiled=profiled)


def _fixed_bytes(given: StandardInput, changed: Sequence[Changed]) -> bytes:
    return changed[0].source.encode(changed[0].text) if changed else given.raw


def _check(work: CheckWork, targets: Sequence[Target], workers: Workers | None = None) -> Report:
    from rlint.engine import api
    from rlint.output import LISTS_HIDDEN, SHOWS_EDITS

    if work.request.groups is not None:
        report = api.check_chosen(targets, work.request.groups, confidence=work.settings.confidence)
        return replace(report, problems=(*work.problems, *report.problems))
    unsuppressed = work.request.ignore_noqa
    lists_hidden = work.settings.output_format in LISTS_HIDDEN and not unsuppressed
    with working(f"checking {count(len(targets), 'file')}", quiet=work.request.quiet or work.request.silent):
        report = api.check(
            targets,
            jobs=work.settings.jobs,
            ignore_suppressions=unsuppressed or lists_hidden,
            cache=work.cache(),
            seen=work.seen,
            workers=workers,
            edits=work.settings.output_format in SHOWS_EDITS and not work.request.statistics,
            confidence=work.settings.confidence,
        )
    if lists_hidden:
        from rlint.cli.in_source import with_hidden

        report = with_hidden(report, targets)
    if work.seen is not None:
        work.seen.save()
    return replace(report, problems=(*work.problems, *report.problems))
