"""`rlint explain`: from places on the command line to explanations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rlint.cli.request import Request
from rlint.errors import RlintError
from rlint.frozen import frozen
from rlint.regex import regex

if TYPE_CHECKING:
    from rlint.cli.targets import CheckWork
    from rlint.engine.explain.explainer import Explainer
    from rlint.findings import Finding
    from rlint.run_data import LineExplanation, Target
    from rlint.source.files import Source

_MOST_FILES = 2_000
"""With more files in the working directory, only those of the project around a line are read."""
_PLACE = regex(r"(?P<path>.+?)(?::cell (?P<cell>\d+))?:(?P<line>\d+)(?::(?P<column>\d+))?")


@frozen
class _Place:
    """A line of a file, as written on the command line."""

    path: str
    line: int
    column: int | None = None
    cell: int | None = None


def explain(request: Request, *, every: bool, as_json: bool) -> int:
    """Explain the requested places, and print the result; return the exit status."""
    from rlint.cli.console import Console, terminal_width
    from rlint.cli.targets import with_settings
    from rlint.output import line_text

    work = with_settings(request)
    places = [_place(text) for text in request.paths]
    described: list[LineExplanation] = []
    known: dict[str, tuple[Explainer, Source]] = {}
    around = _checked_here(work) if places else ()
    for place in places:
        if place.path not in known:
            known[place.path] = _explainer(place, work, around)
        described.append(_explained(place, *known[place.path]))
    if as_json:
        text = line_text.to_json(described)
    else:
        text = line_text.render(described, color=request.colored, every=every, width=terminal_width())
    Console(request).report(text)
    return 0


def _place(text: str) -> _Place:
    found = _PLACE.fullmatch(text)
    if found is None or not int(found["line"]):
        raise click.UsageError(
            f"{text!r} is not a location: write FILE:LINE, FILE:LINE:COLUMN or FILE:cell CELL:LINE"
        )
    column, cell = found["column"], found["cell"]
    return _Place(
        found["path"], int(found["line"]), int(column) if column else None, int(cell) if cell else None
    )


def _checked_here(work: CheckWork) -> Sequence[Target]:
    """Return what `rlint check .` would check: a line is explained as in that run."""
    from rlint.source.discovery import discover

    root = Path(os.path.realpath(work.resolver.root))
    if Path(os.path.realpath(os.path.expanduser("~"))).is_relative_to(root):
        return ()  # a whole home directory
    found = discover(["."], work.resolver)
    if len(found.files) > _MOST_FILES:
        return ()
    return replace(work, paths=found.files).targets()


def _explainer(place: _Place, work: CheckWork, around: Sequence[Target]) -> tuple[Explainer, Source]:
    from rlint.cli.rule_figures import rule_figures, with_impact
    from rlint.engine.explain.explainer import Explainer
    from rlint.engine.explain.hiding import Hiding
    from rlint.engine.group_checks import kept_summaries
    from rlint.file_paths import absolute
    from rlint.run_data import CheckOptions, Target
    from rlint.source.files import Source, display_name, read_source

    path = absolute(place.path)
    if not path.is_file():
        raise RlintError(f"{place.path}: no such file")
    name = display_name(path, work.resolver.root)
    settings = work.resolver.for_file(path)
    source = read_source(path, name)
    if not isinstance(source, Source):
        raise RlintError(str(source))
    selected = frozenset(settings.codes) if work.request.overrides.get("select") else None
    target = Target(
        None, path, name, settings.codes_for(path) or frozenset({"-"}), declared=settings.declared
    )
    hiding = Hiding(settings, path, source.text, work.baseline_path())
    cache = work.cache()
    options = CheckOptions(cache=cache.folder if cache is not None and cache.is_usable else None)
    targets = around if any(each.name == name for each in around) else ()

    def rated(findings: Sequence[Finding]) -> Sequence[Finding]:
        return with_impact(findings, rule_figures({each.code for each in findings}, cache))

    explainer = Explainer(
        target, hiding, around=targets, summaries=kept_summaries(options), only=selected, rated=rated
    )
    if explainer.problem is not None:
        raise RlintError(str(explainer.problem))
    if settings.excludes_file(path):
        explainer.notes.append("the file matches `exclude` and is checked only when it is named")
    return explainer, source


def _explained(place: _Place, explainer: Explainer, source: Source) -> LineExplanation:
    from rlint.engine.explain.explainer import ExplainedLine
    from rlint.findings import Cell

    before, cell = 0, None
    last = source.text.count("\n") + 1
    if source.notebook is not None:
        views = {view.index: view for view in source.notebook.views(source.text)}
        if place.cell is None:
            raise RlintError(f"{place.path} is a notebook: write `{place.path}:cell CELL:{place.line}`")
        if place.cell not in views:
            raise RlintError(f"{place.path}: cell {place.cell} does not exist or holds no Python code")
        view = views[place.cell]
        before, last = view.first_line - 1, view.shown.count("\n") + 1
        cell = Cell(view.index, view.id, before, source.notebook.file_line(view.index, place.line))
    if place.line > last:
        raise RlintError(f"{place.path}: line {place.line} does not exist; the last line is {last}")
    described = explainer.explain(ExplainedLine(before + place.line, place.column))
    return replace(described, line=place.line, cell=cell)
