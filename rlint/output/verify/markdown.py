"""A comment for a pull request, in GitHub's Markdown: the count, the table, and collapsed details."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rlint.evidence.results import Verdict
from rlint.output.terminal import printable
from rlint.output.verify import figures, rows, verdict_summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rlint.evidence.results import Machine, RuleOutcome, Session

_COLUMNS = (
    "Rule", "Workload", "Device", "Size", "Behaviour", "Verdict", "Before / after", "Growth", "Memory",
)  # fmt: skip
_DIFFERENCES = 20  # of one workload; a comment may have 65,536 characters
_LONGEST = 300  # characters of a compared value, for the same reason


def render(session: Session, *, color: bool, width: int | None) -> str:  # noqa: ARG001 - every format takes all
    """Return the whole comment."""
    parts = [f"### rlint verify\n\n{text(verdict_summary.summary_line(session))}"]
    parts += [f"> {text(remark)}" for remark in verdict_summary.remarks(session)]
    if session.outcomes:
        parts.append(_table(session.outcomes))
    parts += [_explained(outcome) for outcome in verdict_summary.to_explain(session)]
    if verdict_summary.not_run(session):
        parts.append(_not_run(session))
    notes = [
        f"- {text(f'{verdict_summary.label(one)}: {one.reason}')}"
        for one in verdict_summary.annotated(session)
    ]
    notes += [f"- {text(one)}" for one in verdict_summary.excluded(session)]
    if notes:
        parts.append(_unfolds("Notes", notes))
    parts.append(_machine(session.machine, session.date))
    return "\n\n".join(parts) + "\n"


def text(value: str) -> str:
    """Return text that Markdown shows unchanged, and that mentions no user."""
    escaped = re.sub(r"([\\`*_{}\[\]<>|~])", r"\\\1", printable(value).replace("&", "&amp;"))
    # Neither a user nor another issue is mentioned.
    return re.sub(r"([@#])(?=\w)", r"\1<!-- -->", escaped)


def code(value: str, longest: int | None = None) -> str:
    """Return a code span that shows `value`, shortened after `longest` characters."""
    shown = printable(value)
    if longest is not None and len(shown) > longest:
        shown = shown[:longest] + "…"
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    padding = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{padding}{shown}{padding}{fence}"


def _table(outcomes: Iterable[RuleOutcome]) -> str:
    lines = [_line(_COLUMNS), _line(["---:" if column == "Size" else "---" for column in _COLUMNS])]
    for row in map(rows.row_of, outcomes):
        verdict = text(row.verdict)
        plain = row.outcome.verdict in (Verdict.FASTER, Verdict.NO_CHANGE, Verdict.NOT_RUN)
        cells = [
            text(f"{row.outcome.subject} {row.outcome.name}".rstrip()),
            text(row.outcome.workload),
            text(row.outcome.device),
            text(row.size),
            text(row.behaviour),
            verdict if plain and not row.outcome.failed else f"**{verdict}**",
            "<br>".join(map(text, row.gains)) or rows.NOTHING,
            row.growth,
            row.memory,
        ]
        lines.append(_line(cells))
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _explained(outcome: RuleOutcome) -> str:
    """Return details of what is different, worse or failed, as a collapsed section."""
    verdict = rows.verdict_words(outcome)
    lines = [
        f"- {text(clause)}" for clause in (*verdict_summary.reasons(outcome), *verdict_summary.worse(outcome))
    ]
    groups = verdict_summary.grouped(outcome.behaviour.differences) if outcome.behaviour else []
    for group in groups[:_DIFFERENCES]:
        first = group.first
        lines += [
            f"- {text(first.kind)} of {code(first.path)} {group.where}; {group.cause}",
            f"  - before: {code(first.before, _LONGEST)}",
            f"  - after: {code(first.after, _LONGEST)}",
        ]
    if len(groups) > _DIFFERENCES:
        lines.append(f"- and {len(groups) - _DIFFERENCES} more")
    return _unfolds(f"{verdict_summary.label(outcome)}: {verdict}", lines)


def _not_run(session: Session) -> str:
    lines = []
    for reason, outcomes in verdict_summary.not_run(session).items():
        lines += [f"- {text(reason)}: {text(verdict_summary.labels(outcomes))}"]
    return _unfolds("Not run here", lines)


def _machine(machine: Machine, date: str) -> str:
    lines = [
        f"- {text(name)}: {text(value)}" for name, value in verdict_summary.machine_facts(machine).items()
    ]
    lines.append(f"- Measured: {text(figures.date(date))}")
    lines.append("- Intervals are 95 % bootstrap intervals of the ratio of medians, before divided by after.")
    return _unfolds("Machine and method", lines)


def _unfolds(title: str, lines: Sequence[str]) -> str:
    # Within <summary>, HTML is rendered and Markdown is not.
    escaped = printable(title).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    escaped = re.sub(r"([@#])(?=\w)", r"\1<!-- -->", escaped)
    body = "\n".join(lines)
    return f"<details>\n<summary>{escaped}</summary>\n\n{body}\n\n</details>"
