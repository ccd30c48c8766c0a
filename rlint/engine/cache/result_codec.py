"""Results as plain data and back, to be kept from one run to the next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rlint.findings import Applicability, Cell, Edit, Elsewhere, Finding, Fix, Heat, Position, Problem
from rlint.run_data import FileResult


def to_plain(result: FileResult) -> list[Any]:
    """Return a result as what `json.dumps` takes."""
    findings = [
        [
            each.code, each.name, each.message, each.path,
            each.start.line, each.start.column, each.end.line, each.end.column,
            each.first_line, each.last_line, int(each.heat), each.chain, each.advice,
            each.fix and [
                each.fix.title, each.fix.safety.value, each.fix.reason,
                _plain_edits(each.fix.edits),
                [[other.path, _plain_edits(other.edits), other.digest] for other in each.fix.elsewhere],
                each.fix.takes_away,
            ],
            each.no_fix, _plain_cell(each.cell),
        ]
        for each in result.findings
    ]  # fmt: skip
    problems = [
        [each.path, each.message, each.line, each.column, each.hint, _plain_cell(each.cell)]
        for each in result.problems
    ]
    return [result.name, findings, problems, result.checked]


def _plain_cell(cell: Cell | None) -> list[Any] | None:
    return [cell.index, cell.id, cell.before, cell.file_line] if cell else None


def _plain_edits(edits: Iterable[Edit]) -> list[Any]:
    return [[edit.start, edit.end, edit.text, edit.shared] for edit in edits]


def from_plain(data: list[Any]) -> FileResult:
    """Return what `to_plain` was given. Raises ValueError or TypeError for what it did not make."""
    name, findings, problems, checked = data
    return FileResult(name, tuple(map(_finding, findings)), tuple(map(_problem, problems)), checked=checked)


def _problem(data: list[Any]) -> Problem:
    path, message, line, column, hint, cell = data
    return Problem(path, message, line, column, hint, cell=Cell(*cell) if cell else None)


def _finding(data: list[Any]) -> Finding:
    code, name, message, path, line, column, last_line, last_column, *others = data
    first, last, heat, chain, advice, fix, no_fix, cell = others
    return Finding(
        code, name, message, path, Position(line, column), Position(last_line, last_column),
        first, last, Heat(heat), tuple(chain), advice, _fix(fix) if fix else None,
        no_fix, Cell(*cell) if cell else None,
    )  # fmt: skip


def _fix(data: list[Any]) -> Fix:
    title, safety, reason, edits, others, takes_away = data
    elsewhere = tuple(Elsewhere(path, _edits(own), digest) for path, own, digest in others)
    return Fix(title, Applicability(safety), _edits(edits), reason, elsewhere, takes_away)


def _edits(data: list[Any]) -> tuple[Edit, ...]:
    return tuple(Edit(*edit) for edit in data)
