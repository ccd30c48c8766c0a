"""Findings in the text of a notebook, mapped to places in its cells, without fixes that a notebook does not
allow.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace

from rlint.findings import Applicability, Cell, Edit, Finding, Fix, Problem
from rlint.notebook.notebook import Notebook
from rlint.notebook.view import CellView, cell_at
from rlint.parsing.parse import parse
from rlint.parsing.positions import Positions
from rlint.regex import regex
from rlint.run_data import FileResult
from rlint.source.files import Source

_LINES = regex(r"\bline (\d+(?:, \d+)*)")
_SHOWN = "the fix would change the last line of a cell, whose value the notebook shows"


def placed(result: FileResult, source: Source, text: str) -> FileResult:
    """Return the result of checking `text`, which is that of the notebook `source` or was produced from it by
    fixes.
    """
    notebook = source.notebook
    if notebook is None:
        return result
    places = _Places(notebook, source.name, text)
    findings = tuple(places.finding(finding) for finding in result.findings)
    hidden = tuple(places.finding(finding) for finding in result.hidden)
    problems = [places.problem(problem) for problem in result.problems]
    problems = [*places.current.problems, *problems]
    return replace(result, findings=findings, hidden=hidden, problems=tuple(problems))


class _Places:
    def __init__(self, notebook: Notebook, name: str, text: str) -> None:
        self._text = text
        self._positions = Positions(text)
        self._views = notebook.views(text)
        self._marker = notebook.masks.marker
        self._masks = notebook.masks.places(text)
        self.current = notebook if text == notebook.text else Notebook(notebook.rendered(text), name)

    def finding(self, finding: Finding) -> Finding:
        cell = self._cell(finding.start.line)
        fix = self._possible(finding.fix) if finding.fix else None
        if fix is not None and fix.reason:
            fix = replace(fix, reason=self._with_cell_lines(fix.reason, cell))
        message = self._with_cell_lines(finding.message, cell)
        advice = self._with_cell_lines(finding.advice, cell) if finding.advice else None
        assumption = self._with_cell_lines(finding.assumption, cell) if finding.assumption else None
        minor = self._with_cell_lines(finding.minor, cell) if finding.minor else None
        related = tuple(
            replace(
                place, cell=self._cell(place.start.line), message=self._with_cell_lines(place.message, cell)
            )
            for place in finding.related
        )
        return replace(
            finding,
            message=message,
            advice=advice,
            cell=cell,
            fix=fix,
            assumption=assumption,
            minor=minor,
            related=related,
        )

    def problem(self, problem: Problem) -> Problem:
        cell = self._cell(problem.line) if problem.line is not None else None
        if cell is None or problem.line is None:
            return problem
        return replace(problem, cell=replace(cell, before=0), line=problem.line - cell.before)

    def _with_cell_lines(self, text: str, cell: Cell | None) -> str:
        """Return a text with its line numbers counted per cell. Text in backticks is code."""
        parts = text.split("`")
        parts[::2] = [_LINES.sub(lambda match: self._lines(match, cell), part) for part in parts[::2]]
        return "`".join(parts)

    def _lines(self, match: re.Match[str], here: Cell | None) -> str:
        described = []
        for number in map(int, match[1].split(", ")):
            view = cell_at(number, self._views)
            line = number - view.first_line + 1 if view else number
            described.append(
                f"{line} of cell {view.index}" if view and here and view.index != here.index else f"{line}"
            )
        return "line " + ", ".join(described)

    def _cell(self, line: int) -> Cell | None:
        view = cell_at(line, self._views)
        if view is None:
            return None
        before = view.first_line - 1
        return Cell(view.index, view.id, before, self.current.file_line(view.index, line - before))

    def _possible(self, fix: Fix) -> Fix | None:
        """Return the fix, if all of its edits are in the Python of a cell; unsafe, if the cell's output would
        change.
        """
        touched: dict[int, CellView] = {}
        for edit in fix.edits:
            view = self._view_of(edit)
            if view is None:
                return None
            touched[view.index] = view
        if fix.safety is Applicability.SAFE and any(
            self._shows_other(view, fix.edits) for view in touched.values()
        ):
            return replace(fix, safety=Applicability.UNSAFE, reason=_SHOWN)
        return fix

    def _view_of(self, edit: Edit) -> CellView | None:
        """Return the cell that an edit changes; None if it may not."""
        view = cell_at(self._positions.position(edit.start).line, self._views)
        if view is not None and edit.start < view.start:  # on the line above the cell: after the previous one
            view = cell_at(view.first_line - 2, self._views)
        if view is None or not view.start <= edit.start <= edit.end <= view.end or self._marker in edit.text:
            return None
        if view.pinned and (
            edit.start < self._positions.line_start(view.first_line + view.pinned)
            or view.pinned > view.presented.count("\n")
        ):
            return None
        if any(edit.start < end and start < edit.end for start, end, _ in self._masks):
            return None
        return view

    def _shows_other(self, view: CellView, edits: Sequence[Edit]) -> bool:
        text, done = [], view.start
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
            if view.start <= edit.start <= view.end:
                text += [self._text[done : edit.start], edit.text]
                done = edit.end
        after = "".join([*text, self._text[done : view.end]])
        return _shown(self._text[view.start : view.end]) != _shown(after)


def _shown(code: str) -> str | None:
    """Return the expression whose value a cell displays."""
    reading = parse(code, "")
    if isinstance(reading, Problem) or not reading.module.body:
        return None
    last = reading.module.body[-1]
    if not isinstance(last, ast.Expr):
        return None
    end = Positions(code).span(last)[1]
    return None if code[end:].lstrip().startswith(";") else ast.dump(last)
