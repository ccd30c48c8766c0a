"""Findings, sources and reports for tests of the code that processes findings."""

from __future__ import annotations

from pathlib import Path

from rlint.findings import Applicability, Edit, Finding, Fix, Heat, Position, Problem
from rlint.parsing.positions import Positions
from rlint.run_data import Changed, Report
from rlint.source.files import Source


def source(text: str, name: str = "agent.py", path: Path | None = None, encoding: str = "utf-8") -> Source:
    """A source with this text; the file exists only if `path` does."""
    return Source(path or Path.cwd() / name, name, text, encoding, bom=False, raw=text.encode(encoding))


def finding(
    text: str,
    place: str,
    code: str = "RL101",
    name: str = "concat-grown-buffer",
    *,
    path: str = "agent.py",
    message: str = "`states` is copied whole",
    heat: Heat = Heat.HOT,
    chain: tuple[str, ...] = (),
    advice: str | None = None,
    fix: Fix | None = None,
    lines: tuple[int, int] | None = None,
) -> Finding:
    """A finding about the first occurrence of `place` in `text`."""
    positions = Positions(text)
    offset = text.index(place)
    start, end = positions.position(offset), positions.position(offset + len(place))
    first, last = lines or (start.line, end.line)
    return Finding(code, name, message, path, start, end, first, last, heat, chain, advice, fix)


def replacing(
    text: str,
    old: str,
    new: str,
    safety: Applicability = Applicability.SAFE,
    reason: str | None = None,
    title: str = "Repair it",
) -> Fix:
    """A fix that replaces the first occurrence of `old`."""
    start = text.index(old)
    return Fix(title, safety, (Edit(start, start + len(old), new),), reason)


def report(
    *findings: Finding, problems: tuple[Problem, ...] = (), sources: tuple[Source, ...] = (), checked: int = 1
) -> Report:
    """A report as the engine passes it to the reporters."""
    return Report(findings, problems, checked, {one.name: one for one in sources})


def changed(text: str, new: str, name: str = "agent.py") -> Changed:
    """A file that fixes have changed."""
    return Changed(source(text, name), new, ())


def at(line: int) -> Position:
    """The start of a line."""
    return Position(line, 1)
