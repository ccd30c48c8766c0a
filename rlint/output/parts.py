"""The code of a report: whole files, or the cells of notebooks."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from rlint.frozen import mutable
from rlint.parsing.positions import Positions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rlint.findings import Cell, Edit, Fix, Problem
    from rlint.notebook.view import CellView
    from rlint.run_data import Changed, Report


def absolute_name(path: str) -> str:
    """Return the name of a file for programs; "-" is standard input."""
    return path if path == "-" else str(Path(path).absolute())


def problem_text(problem: Problem) -> str:
    """Return the message of a problem for a format that shows its file and line separately: with its place in
    a notebook, and the hint.
    """
    cell = f"{problem.place[len(problem.path) + 1 :]}: " if problem.cell is not None else ""
    return f"{cell}{with_hint(problem)}"


def with_hint(problem: Problem) -> str:
    """Return the message of a problem with its hint."""
    return problem.message + (f" ({problem.hint})" if problem.hint else "")


@mutable
class ReportPart:
    """A piece of code, and the edits of a fix that change it. `cell` is its number in a notebook."""

    positions: Positions
    cell: int | None = None
    cell_id: str | None = None
    edits: list[Edit] = field(default_factory=list)


class ReportParts:
    """Looks up the code that contains the findings of a report."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._positions: dict[str, Positions | None] = {}
        self._views: dict[str, dict[int, CellView]] = {}

    def code(self, path: str, cell: Cell | None) -> Positions | None:
        """Return the file, or its cell; displayed positions refer to it."""
        whole = self._whole(path)
        if whole is None or cell is None:
            return whole
        view = self._views[path].get(cell.index)
        return view.positions if view is not None else None

    def of_fix(self, path: str, fix: Fix) -> list[ReportPart] | None:
        """Return the changes of a fix in code order; None if the file cannot be read."""
        whole = self._whole(path)
        if whole is None:
            return None
        views = list(self._views[path].values())
        if not views:
            return [ReportPart(whole, edits=list(fix.edits))]
        found: dict[int, ReportPart] = {}
        for edit in sorted(fix.edits, key=lambda edit: (edit.start, edit.end)):
            view = next(view for view in views if edit.start <= view.end)
            part = found.setdefault(view.index, ReportPart(view.positions, view.index, view.id))
            part.edits.append(view.local(edit, whole))
        return list(found.values())

    def _whole(self, path: str) -> Positions | None:
        if path not in self._positions:
            source = self._report.source_of(path)
            self._positions[path] = Positions(source.text) if source else None
            views = source.notebook.views(source.text) if source and source.notebook else []
            self._views[path] = {view.index: view for view in views}
        return self._positions[path]


def versions(changed: Changed) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each changed file or cell, with its old and new code."""
    source = changed.source
    if source.notebook is None:
        yield source.name, source.text, changed.text
        return
    old: Sequence[CellView] = source.notebook.views(source.text)
    for before, after in zip(old, source.notebook.views(changed.text), strict=True):
        if before.shown != after.shown:
            # the last line of a cell has no end, which does not matter
            end = "" if "\n" in (before.shown[-1:], after.shown[-1:]) else "\n"
            yield f"{source.name}:cell {before.index}", before.shown + end, after.shown + end
