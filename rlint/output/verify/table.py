"""The table for a terminal: a row per workload and device, then details, then the count.

Not by `rich.table`, which folds the cells of a table that is too wide, while this one uses another layout.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlint.evidence.results import Verdict
from rlint.output.terminal import Paint, TextStyle, cells, printable
from rlint.output.verify import rows, verdict_summary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rlint.evidence.results import RuleOutcome, Session
    from rlint.output.verify.rows import VerifyRow

_GAP = "  "
_DIFFERENCES = 6  # of one workload; the formats for files list all
_NARROWEST = 40
_ATTENTION = {"failed": TextStyle.ALERT, "different behaviour": TextStyle.ALERT}


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: its title, and the lines of a row in it."""

    title: str
    lines: Callable[[VerifyRow], Sequence[str]]
    right: bool = False


def _subject(row: VerifyRow) -> list[str]:
    return [
        verdict_summary.name(row.outcome),
        f"  {row.size} on {row.outcome.device}" if row.outcome.workload else "",
    ]


def _behaviour(row: VerifyRow) -> list[str]:
    """Return behaviour details that the verdict beside them does not contain."""
    return [row.behaviour] if row.gains or rows.has_more_information(row.outcome.behaviour) else []


def _costs(row: VerifyRow) -> list[str]:
    """Return all figures of a row, each with its name except the wall time."""
    memory = row.memory != rows.NOTHING
    found = [gain for gain in row.gains if not (memory and gain.startswith("memory"))]
    found += [f"memory {row.memory}"] if memory else []
    found += [f"growth {row.growth}"] if row.growth != rows.NOTHING else []
    return found or [rows.NOTHING]


_FULL = (
    _Column("Rule", lambda row: [f"{row.outcome.subject} {row.outcome.name}".rstrip()]),
    _Column("Workload", lambda row: [row.outcome.workload]),
    _Column("Device", lambda row: [row.outcome.device]),
    _Column("Size", lambda row: [row.size], right=True),
    _Column("Behaviour", lambda row: [row.behaviour]),
    _Column("Verdict", lambda row: row.verdict.split(", ")),
    _Column("Before / after", lambda row: row.gains or [rows.NOTHING]),
    _Column("Growth", lambda row: [row.growth]),
    _Column("Memory", lambda row: [row.memory]),
)
_SHORT = (
    _Column("Rule", lambda row: [row.outcome.subject]),
    *_FULL[1:4],
    _Column("Behaviour", lambda row: [row.behaviour.partition(" in ")[0]]),
    *_FULL[5:],
)
_NARROW = (
    _Column("Rule, workload, size", _subject),
    _Column("Verdict, behaviour", lambda row: [*row.verdict.split(", "), *_behaviour(row)]),
    _Column("Before / after", _costs),
)
_LAYOUTS = (_FULL, _SHORT, _NARROW)


def render(session: Session, *, color: bool, width: int | None) -> str:
    """Return the table, a block for each outcome that needs one, and the summary."""
    paint = Paint(color=color)
    width = None if width is None else max(width, _NARROWEST)
    blocks = [_table([rows.row_of(outcome) for outcome in session.outcomes], paint, width)]
    blocks += [_explained(outcome, paint, width) for outcome in verdict_summary.to_explain(session)]
    blocks += [_not_run(reason, ones, width) for reason, ones in verdict_summary.not_run(session).items()]
    blocks.append([line for text in verdict_summary.excluded(session) for line in _wrapped(text, width)])
    last = [*verdict_summary.remarks(session), verdict_summary.summary_line(session)]
    blocks.append([line for text in last for line in _wrapped(text, width)])
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


# --- the table ---


def _table(table: list[VerifyRow], paint: Paint, width: int | None) -> list[str]:
    if not table:
        return []
    for columns in _LAYOUTS:
        grid = _grid(columns, table)
        if width is None or sum(grid.widths) + len(_GAP) * (len(columns) - 1) <= width:
            return [line for number in range(len(table) + 1) for line in grid.lines(number, paint)]
    return [line for row in table for line in _stacked(row, width or _NARROWEST)]


def _stacked(row: VerifyRow, width: int) -> list[str]:
    """Return one row for a terminal that is too narrow for columns."""
    name, size = _subject(row)
    facts = [*row.verdict.split(", "), *_behaviour(row), *_costs(row), size.strip()]
    shown = [printable(fact) for fact in facts if fact not in ("", rows.NOTHING)]
    return [*_wrapped(name, width), *_packed(shown, width, "  ")]


def _packed(facts: list[str], width: int, indent: str) -> list[str]:
    """Return as many facts on each line as fit, none of them broken."""
    lines = [indent + facts[0]]
    for fact in facts[1:]:
        if _columns(lines[-1]) + len(" · ") + _columns(fact) <= width:
            lines[-1] += f" · {fact}"
        else:
            lines.append(indent + fact)
    return lines


@dataclass(frozen=True, slots=True)
class _Grid:
    """The cells of a table, the titles first, and the width of each column."""

    columns: Sequence[_Column]
    cells: list[list[Sequence[str]]]
    widths: list[int]

    def lines(self, number: int, paint: Paint) -> list[str]:
        """Return the lines of one row."""
        row = self.cells[number]
        found = []
        for index in range(max(len(cell) for cell in row)):
            texts = [cell[index] if index < len(cell) else "" for cell in row]
            padded = [
                _pad(text, width, right=column.right)
                for text, width, column in zip(texts, self.widths, self.columns, strict=True)
            ]
            padded[-1] = padded[-1].rstrip()
            styles = [TextStyle.PATH if number == 0 else _style(text) for text in texts]
            painted = [
                paint(style, text) if style else text for style, text in zip(styles, padded, strict=True)
            ]
            found.append(_GAP.join(painted).rstrip())
        return found


def _grid(columns: Sequence[_Column], table: list[VerifyRow]) -> _Grid:
    body = [[[printable(line) for line in column.lines(row)] for column in columns] for row in table]
    titles = [[column.title] for column in columns]
    grid: list[list[Sequence[str]]] = [list(line) for line in (titles, *body)]
    widths = [max(_columns(line) for row in grid for line in row[index]) for index in range(len(columns))]
    return _Grid(columns, grid, widths)


def _style(text: str) -> TextStyle | None:
    if text in rows.WORSE.values() or text == Verdict.NOT_ENOUGH.value:
        return TextStyle.WHY
    return _ATTENTION.get(text, TextStyle.ALERT if text == "different" else None)


def _columns(text: str) -> int:
    return sum(columns for _, columns in cells(text))


def _pad(text: str, width: int, *, right: bool) -> str:
    space = " " * (width - _columns(text))
    return space + text if right else text + space


# --- the blocks below it ---


def _explained(outcome: RuleOutcome, paint: Paint, width: int | None) -> list[str]:
    verdict = rows.verdict_words(outcome)
    style = _ATTENTION.get(verdict, TextStyle.WHY)
    title = verdict_summary.label(outcome) + (f" ({outcome.name})" if outcome.name else "")
    if width is None or _columns(printable(f"{title}: {verdict}")) <= width:
        lines = [f"{paint(TextStyle.PATH, printable(title))}: {paint(style, printable(verdict))}"]
    else:
        lines = [paint(TextStyle.PATH, line) for line in _wrapped(f"{title}:", width)]
        lines += [paint(style, line) for line in _wrapped(verdict, width, "  ")]
    for clause in (*verdict_summary.reasons(outcome), *verdict_summary.worse(outcome)):
        lines += _wrapped(clause, width, "  ")
    groups = verdict_summary.grouped(outcome.behaviour.differences) if outcome.behaviour else []
    for group in groups[:_DIFFERENCES]:
        first = group.first
        lines += _wrapped(f"{first.kind} of `{first.path}` {group.where}; {group.cause}", width, "  ")
        lines += [_cut(f"    before  {printable(first.before)}", width)]
        lines += [_cut(f"    after   {printable(first.after)}", width)]
    if len(groups) > _DIFFERENCES:
        lines.append(f"  and {len(groups) - _DIFFERENCES} more, which the other formats list")
    return lines


def _not_run(reason: str, outcomes: list[RuleOutcome], width: int | None) -> list[str]:
    return [
        *_wrapped(f"Not run here: {reason}", width),
        *_wrapped(verdict_summary.labels(outcomes), width, "  "),
    ]


def _wrapped(text: str, width: int | None, indent: str = "") -> list[str]:
    """Return a text broken between words; unbroken if there is no width."""
    text = printable(text)
    if width is None:
        return [indent + text]
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _cut(line: str, width: int | None) -> str:
    return line if width is None or len(line) <= width else line[: width - 1] + "…"
