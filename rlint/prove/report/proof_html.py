"""A proof as a self-contained page, with the charts of `rlint verify`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from rlint.output import templates
from rlint.output.verify import marks
from rlint.prove.proof import DIFFERENT, PROVEN, Proof, ProvenFix
from rlint.prove.report import proof_words


def render(proof: Proof, *, color: bool, width: int | None) -> str:  # noqa: ARG001 - every format takes all
    """Return the whole page."""
    described = [one for one in proof.fixes if one.verdict in PROVEN]
    rows = [*described, *([proof.together] if proof.together is not None else [])]
    return templates.page(
        "proof.html.jinja",
        f"rlint prove, {proof.date[:10]}",
        "verify.css",
        proof=proof,
        words=proof_words,
        marks=marks,
        columns=proof_words.COLUMNS,
        rows=[[_unbroken(cell) for cell in proof_words.cells(one)] for one in rows] if described else [],
        bars=_bars([one for one in rows if one.ratio is not None and one.verdict != DIFFERENT]),
        lists=list(_lists(proof)),
    )


def _lists(proof: Proof) -> Iterator[tuple[str, list[str]]]:
    """Yield the differences, and the fixes without a verdict, each list with a title."""
    differing = list(proof_words.differing(proof))
    if differing:
        yield "What differs", differing
    title, lines = "", []
    for line in proof_words.listed(proof):
        if line.startswith("  "):
            lines.append(line.strip())
        elif line:
            if lines:
                yield title, lines
            title, lines = line.rstrip(":"), []
    if lines:
        yield title, lines


def _unbroken(cell: str) -> str:
    return cell.replace(" %", "\N{NO-BREAK SPACE}%")


def _bars(fixes: list[ProvenFix]) -> list[dict[str, Any]]:
    """Return ratios on a common logarithmic scale."""
    ratios = [one.ratio for one in fixes if one.ratio is not None]
    if not ratios:
        return []
    low = min(0.5, *(ratio.low for ratio in ratios))
    high = max(2.0, *(ratio.high for ratio in ratios))

    def at(value: float) -> float:
        return min(1.0, max(0.0, math.log(value / low) / math.log(high / low)))

    return [
        {
            "label": proof_words.label(one),
            "words": proof_words.ratio_text(ratio),
            "verdict": one.verdict,
            "one": at(1),
            "low": at(ratio.low),
            "high": at(ratio.high),
            "value": at(ratio.value),
            "control": (at(one.control.low), at(one.control.high)) if one.control is not None else None,
        }
        for one, ratio in zip(fixes, ratios, strict=True)
    ]
