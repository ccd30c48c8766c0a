"""The sign of each verdict: a shape first, so that nobody needs its colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.output.markup import Markup, tag

if TYPE_CHECKING:
    from rlint.evidence.results import RuleOutcome, Verdict

_SHAPES = {
    "faster": "M-5,-6 L6,0 L-5,6 Z",  # towards the better side of the axis
    "no change": "M-5.5,0 a5.5,5.5 0 1,0 11,0 a5.5,5.5 0 1,0 -11,0 Z",
    "slower": "M5,-6 L-6,0 L5,6 Z",
    "different behaviour": "M0,-6.5 L6.5,0 L0,6.5 L-6.5,0 Z",
    "not run here": "M-6,0 H6",
    "not enough cases": "M-6,0 H-2 M2,0 H6",
    "failed": "M-5,-5 L5,5 M-5,5 L5,-5",
}


def kind_of(outcome: RuleOutcome) -> str:
    """Return what an outcome is counted as: its verdict, or "failed"."""
    return "failed" if outcome.failed else outcome.verdict.value


def class_of(kind: str) -> str:
    """Return the class that colours a verdict."""
    return kind.replace(" ", "-")


def shape(kind: str) -> Markup:
    """Return the sign around (0, 0), in pixels, for within an SVG."""
    line = " line" if kind in ("not run here", "not enough cases", "failed") else ""
    return tag("path", class_=f"sign {class_of(kind)}{line}", d=_SHAPES[kind])


def icon(kind: str) -> Markup:
    """Return the sign for within a text that says the same in words."""
    return tag("svg", shape(kind), class_="icon", viewBox="-8 -8 16 16", aria_hidden="true")


def mark(verdict: Verdict, position: float) -> Markup:
    """Return the sign at a share of an SVG's width, half way down."""
    return tag("g", at(position, shape(verdict.value)), class_="mark")


def at(position: float, drawing: Markup) -> Markup:
    """Put what is drawn around (0, 0), in pixels, at a share of an SVG's width, half way down."""
    return tag("svg", drawing, x=f"{100 * position:.2f}%", y="50%", overflow="visible")
