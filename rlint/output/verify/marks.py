"""The sign of each verdict: a shape, so that the colour is not needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlint.evidence.results import RuleOutcome

SHAPES = {
    "faster": "M-5,-6 L6,0 L-5,6 Z",  # for the better side of the axis
    "no change": "M-5.5,0 a5.5,5.5 0 1,0 11,0 a5.5,5.5 0 1,0 -11,0 Z",
    "slower": "M5,-6 L-6,0 L5,6 Z",
    "different behaviour": "M0,-6.5 L6.5,0 L0,6.5 L-6.5,0 Z",
    "not run here": "M-6,0 H6",
    "not enough cases": "M-6,0 H-2 M2,0 H6",
    "failed": "M-5,-5 L5,5 M-5,5 L5,-5",
}
"""Paths around (0, 0), in pixels."""
LINES = ("not run here", "not enough cases", "failed")
"""Paths that enclose nothing."""


def kind_of(outcome: RuleOutcome) -> str:
    """Return the category of an outcome: its verdict, or "failed"."""
    return "failed" if outcome.failed else outcome.verdict.value


def class_of(kind: str) -> str:
    """Return the class that colours a verdict."""
    return kind.replace(" ", "-")
