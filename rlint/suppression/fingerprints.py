"""Fingerprints of findings that are stable when lines move: for baselines, and for services that track
findings between runs.

A finding is identified by its file, its rule, the enclosing function and the text of its line. Line numbers,
comments, indentation and spacing do not matter. Findings that are equal in all of them are numbered.
"""

from __future__ import annotations

import ast
import hashlib
import json
import warnings
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.frozen import ordered
from rlint.parsing.grammar import NEWEST
from rlint.parsing.positions import Positions
from rlint.suppression.comments import read_layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rlint.findings import Finding, Problem
    from rlint.run_data import Report

NAME = "rlintFinding/v1"
"""The name of this fingerprint in formats that allow several. The number is incremented when its parts
change.
"""
_LONGEST = 200  # characters of a line that are kept unchanged


@ordered
class FindingKey:
    """The identity of a finding. Several findings can have the same identity."""

    path: str
    code: str
    function: str
    """Qualified name of the innermost function or class around the finding; "" at module level."""
    line: str
    """The finding's first line, without comment and indentation, with normalised spacing."""


def finding_keys(
    findings: Iterable[Finding], text_of: Callable[[str], str], path_of: Callable[[str], str] = str
) -> list[FindingKey]:
    """Return the identities of findings.

    `text_of` returns the text that a file's findings refer to, and `path_of` its path in the identity, both
    for its name.
    """
    files: dict[str, _File] = {}
    found = []
    for finding in findings:
        if finding.path not in files:
            files[finding.path] = _File(text_of(finding.path))
        file = files[finding.path]
        line = finding.start.line
        found.append(FindingKey(path_of(finding.path), finding.code, file.function_at(line), file.line(line)))
    return found


def fingerprints(findings: Sequence[Finding], report: Report) -> list[str]:
    """Return a text of 32 hexadecimal digits for each finding, no two the same."""
    seen: Counter[FindingKey] = Counter()
    found = []
    for key in finding_keys(findings, report.text_of):
        found.append(_digest(key.path, key.code, key.function, key.line, str(seen[key])))
        seen[key] += 1
    return found


def of_problem(problem: Problem) -> str:
    """Return the same for problems."""
    cell = [str(problem.cell.index)] if problem.cell is not None else []
    return _digest(problem.path, problem.message, *cell)


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


class _File:
    """A text, as far as fingerprints need it."""

    def __init__(self, text: str) -> None:
        self._positions = Positions(text)

    def line(self, number: int) -> str:
        """Return a line in the form in which lines are compared."""
        code = self._positions.line_text(number)
        if "#" in code:
            code = code[: self._comments.get(number, len(code))].strip() or code
        code = " ".join(code.split())
        return code if len(code) <= _LONGEST else f"{code[: _LONGEST // 2]}… {_digest(code)}"

    def function_at(self, number: int) -> str:
        """Return the qualified name of the innermost function or class that contains a line."""
        name = ""
        for first, last, found in self._scopes:  # outer ones first
            if first <= number <= last:
                name = found
        return name

    @cached_property
    def _comments(self) -> dict[int, int]:
        layout = read_layout(self._positions.text)
        return {one.line: one.column - 1 for one in layout.comments} if layout is not None else {}

    @cached_property
    def _scopes(self) -> list[tuple[int, int, str]]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = NEWEST.parse(self._positions.text)
            return list(_scopes_in(tree, ""))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []


def _scopes_in(node: ast.AST, outer: str) -> Iterator[tuple[int, int, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{outer}.{child.name}" if outer else child.name
            first = min([child.lineno, *(each.lineno for each in child.decorator_list)])
            yield first, child.end_lineno or child.lineno, name
            yield from _scopes_in(child, name)
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _scopes_in(child, outer)
