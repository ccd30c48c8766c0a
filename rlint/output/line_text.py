"""Facts about a line, and why rules report nothing there, as text and as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence

from rlint.output.terminal import Paint, TextStyle, printable
from rlint.run_data import Explained, LineExplanation, RuleExplanation

_MOST_SHOWN = 6
_WIDTH = 110
_COLD = "the line is cold (see `runs` above)"
_NONE = "No rule examines this line."


def render(explanations: Sequence[LineExplanation], *, color: bool, every: bool, width: int | None) -> str:
    """Return the explanations of lines for a terminal. `every` shows all rules that examine a line, else only
    those that came close to a finding.
    """
    paint = Paint(color=color)
    blocks = [_block(each, paint, every=every, width=width or _WIDTH) for each in explanations]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def to_json(explanations: Sequence[LineExplanation]) -> str:
    """Return all facts about the lines as JSON: a list with an object for each."""
    return json.dumps([_data(each) for each in explanations], indent=2, ensure_ascii=False) + "\n"


def _block(one: LineExplanation, paint: Paint, *, every: bool, width: int) -> list[str]:
    lines = [f"{paint(TextStyle.PATH, printable(one.place))}  {printable(one.code)}".rstrip()]
    for note in one.notes:
        lines += _wrapped(f"{paint(TextStyle.ALERT, 'note')}: ", note, width)
    for number, said in enumerate(one.frequency):
        lines += _wrapped(f"{paint(TextStyle.WHY, 'runs')}: " if number == 0 else "      ", said, width)
    if one.values:
        values = "; ".join(f"{name}: {kind}" for name, kind in one.values)
        lines += _wrapped(f"{paint(TextStyle.LABEL, 'types')}: ", values, width)
    near = [each for each in one.rules if each.is_near]
    shown = list(one.rules) if every else near[:_MOST_SHOWN]
    for each in shown:
        lines += ["", *_rule(each, one, paint, width)]
    folded = [each for each in one.rules if each not in shown]
    if folded:
        codes = ", ".join(dict.fromkeys(each.code for each in folded))
        what = "rule looks" if len(folded) == 1 else "rules look"
        lines += [
            "",
            *_wrapped("", f"{len(folded)} more {what} at this line (`--all` shows them): {codes}", width),
        ]
    elif not one.rules and not one.notes:
        lines += ["", _NONE]
    return lines


def _rule(one: RuleExplanation, line: LineExplanation, paint: Paint, width: int) -> Iterator[str]:
    style = TextStyle.MARK if one.verdict is Explained.SILENT else TextStyle.ALERT
    yield f"{paint(style, one.code)} {one.name}: {one.verdict.value} at {printable(one.subject)}"
    if one.message and one.verdict is not Explained.SILENT:
        yield from _wrapped("  ", one.message, width)
    if one.impact:
        yield from _wrapped("  impact: ", one.impact, width)
    for number, reason in enumerate(one.reasons):
        said = _COLD if line.heat == "cold" and reason in line.frequency else reason
        yield from _wrapped("  because " if number == 0 else "          ", said, width)
    for number, change in enumerate(one.changes):
        yield from _wrapped("  with " if number == 0 else "  or with ", change, width)
    if one.message and one.verdict is Explained.SILENT:
        label = "  it would say: " if one.changes else "  found: "
        yield from _wrapped(label, one.message, width)


def _wrapped(label: str, text: str, width: int) -> list[str]:
    """Return a text after a label, with the following lines indented."""
    room = max(width - 10, 40)
    parts = textwrap.wrap(printable(text), room, break_long_words=False, break_on_hyphens=False) or [""]
    return [label + parts[0], *(f"      {part}" for part in parts[1:])]


def _data(one: LineExplanation) -> dict[str, object]:
    return {
        "path": one.path,
        "cell": one.cell.index if one.cell else None,
        "line": one.line,
        "code": one.code,
        "notes": list(one.notes),
        "heat": one.heat or None,
        "frequency": list(one.frequency),
        "types": dict(one.values),
        "rules": [
            {
                "code": each.code,
                "name": each.name,
                "verdict": each.verdict.value,
                "subject": each.subject,
                "column": each.column,
                "message": each.message or None,
                "impact": each.impact or None,
                "reasons": list(each.reasons),
                "changes": list(each.changes),
                "near": each.is_near,
            }
            for each in one.rules
        ],
    }
