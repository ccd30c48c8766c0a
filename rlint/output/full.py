"""The default report: the code, why it is slow there, and what to write instead."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rlint.findings import Applicability, ImpactLevel, Position
from rlint.output.counts import count, is_fixable, summary
from rlint.output.parts import ReportParts
from rlint.output.preview import DiffRow, preview_of
from rlint.output.ranking import groups, low_apart
from rlint.output.terminal import Paint, TextStyle, excerpt, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rlint.findings import Finding, Fix, Problem, Related
    from rlint.output import ReportOptions
    from rlint.output.ranking import FindingGroup
    from rlint.parsing.positions import Positions
    from rlint.run_data import Report

_PREVIEW_ROWS = 12
_SPAN_ROWS = 5  # of a longer span, the first three lines and the last one are shown
_FOLDED_PLACES = 5
_UNSHOWN_PLACES = 3
_MARGIN = 4  # columns of a frame besides line number and code


def render(report: Report, options: ReportOptions) -> str:
    """Return the findings, then the problems, then the summary."""
    renderer = _Renderer(report, options)
    shown, low = low_apart(report.findings) if options.fold else (report.findings, ())
    blocks = []
    listed: list[list[str]] = []
    for group in groups(shown, fold=options.fold):
        said: set[str] = set()
        blocks += [renderer.finding(finding, said) for finding in group.shown]
        if group.folded and group.shown:
            blocks.append(renderer.folded(group))
        elif group.folded:
            listed.append(renderer.unshown(group))
    if listed:
        heading = "Further findings (`--no-fold` shows them in full):"
        blocks.append([heading, *(line for lines in listed for line in lines)])
    blocks += [renderer.low(low)] if low else []
    blocks += [renderer.problem(problem) for problem in report.problems]
    text = "".join("\n".join(block) + "\n\n" for block in blocks)
    return text + (summary(report, options) if options.summary else "")


class _Renderer:
    def __init__(self, report: Report, options: ReportOptions) -> None:
        self._report = report
        self._options = options
        self._paint = Paint(color=options.color)
        self._parts = ReportParts(report)

    def finding(self, finding: Finding, said: set[str]) -> list[str]:
        """Return the lines about one finding, without what was just `said` about its rule."""
        positions = self._parts.code(finding.path, finding.cell)
        mark = self._paint(TextStyle.MARK, "[*]") + " " if is_fixable(finding, self._options) else ""
        code = self._paint(TextStyle.ALERT, finding.code)
        rows = self._preview(finding, finding.fix) if positions and finding.fix else []
        gutter = len(str(max([finding.shown_end.line, *(row.number for row in rows if row.number)])))
        place = f"{printable(finding.path)}:{finding.place}"
        lines = [
            f"{code} {mark}{finding.name}: {printable(finding.statement)}",
            f"{' ' * gutter}{self._paint(TextStyle.FRAME, '-->')} {place}",
        ]
        if positions:
            lines += self._frame(positions, finding.shown_start, finding.shown_end, gutter)
        if finding.related:
            lines.append(f"{self._label('also')} {_places(finding.related, finding.path)}")
        if finding.impact is not None and finding.impact.basis:
            impact = f"{finding.impact.level}: {printable(finding.impact.basis)}"
            lines.append(f"{self._label('impact')} {impact}")
        if finding.chain:
            lines.append(f"{self._paint(TextStyle.WHY, 'why hot')}: {printable(' → '.join(finding.chain))}")
        of_rule = [f"{self._label('help')} {printable(finding.advice)}"] if finding.advice else []
        if (gain := self._options.measured.get(finding.code)) and not _is_unmeasured(finding):
            of_rule.append(f"{self._label('measured')} {printable(gain)}")
        lines += [line for line in of_rule if not (self._options.fold and line in said)]
        said.update(of_rule)
        lines += [f"{self._label(label)} {text}" for label, text in self._heat(finding)]
        lines += [self._label("fix") + f" {_offer(finding.fix)}"] if finding.fix else [_none(finding)]
        return lines + [self._row(row, gutter) for row in rows]

    def folded(self, group: FindingGroup) -> list[str]:
        """Return the lines about findings that are similar to those above them."""
        first, number = group.folded[0], len(group.folded)
        more = f"and {number} more like this (`--no-fold` shows them):"
        places = [f"  {place}" for place in _some(group.folded, _FOLDED_PLACES)]
        return [f"{self._paint(TextStyle.ALERT, first.code)} {first.name}: {more}", *places]

    def unshown(self, group: FindingGroup) -> list[str]:
        """Return the lines about the findings of a rule none of which is shown in full."""
        first = group.folded[0]
        number = count(len(group.folded), "finding")
        mark = "[*] " if any(is_fixable(each, self._options) for each in group.folded) else ""
        code = self._paint(TextStyle.ALERT, first.code)
        places = ", ".join(_some(group.folded, _UNSHOWN_PLACES))
        return [f"  {code} {self._paint(TextStyle.MARK, mark)}{first.name}: {number}: {places}"]

    def low(self, findings: Sequence[Finding]) -> list[str]:
        """Return the lines about findings of low impact: how many of each rule."""
        names = {finding.code: finding.name for finding in findings}
        numbers = Counter(finding.code for finding in findings)
        rows = [
            f"  {self._paint(TextStyle.ALERT, code)} {names[code]}: {count(number, 'finding')}"
            for code, number in sorted(numbers.items())
        ]
        return ["Low impact (`--no-fold` shows them):", *rows]

    def _heat(self, finding: Finding) -> Iterator[tuple[str, str]]:
        """Yield what the profile records of a finding."""
        heating = self._options.heating
        heated = heating.findings.get(finding) if heating is not None else None
        if heating is None or heated is None:
            return
        from rlint.output import profile_report

        yield "share", profile_report.share_line(heated, heating)
        if gain := profile_report.gain_line(heated):
            yield "run", gain

    def problem(self, problem: Problem) -> list[str]:
        """Return the lines about a problem."""
        positions = self._parts.code(problem.path, problem.cell)
        gutter = len(str(problem.line or 1))
        place = printable(problem.path) + problem.place[len(problem.path) :]
        lines = [
            f"{self._paint(TextStyle.ALERT, 'error')}: {printable(problem.message)}",
            f"{' ' * gutter}{self._paint(TextStyle.FRAME, '-->')} {place}",
        ]
        if positions and problem.line is not None and positions.line_text(problem.line):
            start = Position(problem.line, problem.column or 1)
            lines += self._frame(positions, start, start, gutter)
        return [*lines, f"{self._label('help')} {printable(problem.hint)}"] if problem.hint else lines

    def _preview(self, finding: Finding, fix: Fix) -> list[DiffRow]:
        parts = self._parts.of_fix(finding.path, fix) or ()
        return preview_of(parts, finding.cell.index if finding.cell else None, _PREVIEW_ROWS)

    def _label(self, word: str) -> str:
        return self._paint(TextStyle.LABEL, word) + ":"

    def _frame(self, positions: Positions, start: Position, end: Position, gutter: int) -> list[str]:
        bar = f"{' ' * gutter} {self._paint(TextStyle.FRAME, '|')}"
        last = end.line - 1 if end.column == 1 and end.line > start.line else end.line
        numbers = list(range(start.line, last + 1))
        if len(numbers) > _SPAN_ROWS:
            numbers = [*numbers[:3], last]
        lines = [bar]
        for before, number in zip([numbers[0], *numbers], numbers, strict=False):
            if number > before + 1:
                lines.append(self._paint(TextStyle.FRAME, "..."))
            code = positions.line_text(number)
            first = start.column - 1 if number == start.line else len(code) - len(code.lstrip())
            after = end.column - 1 if number == end.line else len(code.rstrip())
            shown, column, length = excerpt(code, first, after, self._width(gutter))
            lines.append(f"{self._paint(TextStyle.FRAME, f'{number:>{gutter}} |')} {shown}".rstrip())
            if shown.strip() or number == start.line:
                lines.append(f"{bar} {' ' * column}{self._paint(TextStyle.ALERT, '^' * max(length, 1))}")
        return lines

    def _row(self, row: DiffRow, gutter: int) -> str:
        shown = excerpt(row.text, 0, 0, self._width(gutter + 2))[0]
        if row.mark == "…":
            return self._paint(TextStyle.FRAME, f"... {shown}".rstrip())
        number = self._paint(TextStyle.FRAME, f"{row.number or '':>{gutter}}")
        if row.mark == " ":
            return f"{number} {self._paint(TextStyle.FRAME, '|')} {shown}".rstrip()
        style = TextStyle.ADDED if row.mark == "+" else TextStyle.REMOVED
        return f"{number} {self._paint(style, f'{row.mark} {shown}'.rstrip())}"

    def _width(self, gutter: int) -> int | None:
        return None if self._options.width is None else self._options.width - gutter - _MARGIN


def _some(findings: Sequence[Finding], most: int) -> list[str]:
    """Return the places of the first findings, and the number of the others."""
    number = len(findings)
    most = number if number <= most + 1 else most
    named = [f"{printable(each.path)}:{each.place}" for each in findings[:most]]
    return [*named, f"and {number - most} more"] if number > most else named


def _places(related: Sequence[Related], path: str) -> str:
    """Return further places of a finding; those in its own file without the file."""
    return ", ".join(
        f"{printable(place.place.removeprefix(f'{path}:'))} {printable(place.message)}".rstrip()
        for place in related
    )


def _is_unmeasured(finding: Finding) -> bool:
    """Whether the line about the impact already says that nothing was measured."""
    return finding.impact is not None and finding.impact.level is ImpactLevel.UNKNOWN


_NO_FIX = "note: no automatic fix"


def _none(finding: Finding) -> str:
    return f"{_NO_FIX} here: {printable(finding.no_fix)}" if finding.no_fix else _NO_FIX


def _offer(fix: Fix) -> str:
    title = printable(fix.title)
    if fix.safety is Applicability.SAFE:
        return f"{title} (safe: `rlint fix` applies it)"
    reason = f": {printable(fix.reason)}" if fix.reason else ""
    return f"{title} (unsafe{reason}; `rlint fix --unsafe-fixes` applies it)"
