"""A proof as a comment for a pull request, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from rlint.output.verify.markdown import code, text
from rlint.prove.proof import PROVEN, Proof, ProvenFix
from rlint.prove.report import proof_words

_MOST = 20
_LONGEST = 200


def render(proof: Proof, *, color: bool, width: int | None) -> str:  # noqa: ARG001 - every format takes all
    """Return the whole comment."""
    parts = [f"### rlint prove\n\n{text(proof_words.summary(proof))}; {text(proof_words.recording(proof))}."]
    described = [one for one in proof.fixes if one.verdict in PROVEN]
    rows = [*described, *([proof.together] if proof.together is not None else [])]
    if described:
        lines = [proof_words.COLUMNS, ["---"] * len(proof_words.COLUMNS), *map(_cells, rows)]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    if proof_words.whole(proof):
        parts.append(text(proof_words.whole(proof)))
    differing = [
        f"- {text(proof_words.label(one))}: {text(each['kind'])} of {code(each['path'])}:"
        f" {code(each['before'], _LONGEST)} before, {code(each['after'], _LONGEST)} after"
        for one in rows
        for each in one.differences[:3]
    ]
    if differing:
        parts.append(_unfolds("What differs", differing[:_MOST]))
    others = [line for line in proof_words.listed(proof) if line]
    if others:
        parts.append(_unfolds("Without a verdict", [_listed(line) for line in others]))
    return "\n\n".join(parts) + "\n"


def _cells(one: ProvenFix) -> list[str]:
    return [text(cell) for cell in proof_words.cells(one)]


def _listed(line: str) -> str:
    return f"  - {text(line.strip())}" if line.startswith("  ") else f"- {text(line)}"


def _unfolds(title: str, lines: Sequence[str]) -> str:
    body = "\n".join(lines)
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>"
