"""The HTML report in a real browser."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from headless_browser import READABLE, look
from rlint.evidence.results import Session
from rlint.output.verify import render
from verify_sessions import DIFFERENT, EVERYTHING, FAILED, FASTER, HOSTILE, session

LONG = "a_very_long_module_name_that_has_no_place_to_break/" * 3 + "agent.py"
OVERFLOWING = """(() => {
    const page = document.documentElement;
    const inside = (e) => e.closest('.scrolls') !== null;
    const wide = [...document.querySelectorAll('body *')].filter(
        (e) => !inside(e) && e.getBoundingClientRect().right > page.clientWidth + 1);
    return {viewport: innerWidth, page: page.scrollWidth <= page.clientWidth,
            wide: wide.map((e) => e.tagName + '.' + e.className.toString())};
})()"""


CHARTS = """[...document.querySelectorAll('figure')].map((figure) => ({
        title: figure.querySelector('figcaption').textContent,
        marks: [...figure.querySelectorAll('.mark path')].map((e) => e.getAttribute('class')),
        dots: figure.querySelectorAll('.curve circle, .curve rect').length}))"""
SIDES = """[...document.querySelector('figure').querySelectorAll('.plot[role=img]')].map((plot) => {
        const middle = (e) => { const r = e.getBoundingClientRect(); return (r.left + r.right) / 2 };
        const whiskers = [...plot.querySelectorAll('.whisker')].map(middle);
        const mark = middle(plot.querySelector('.mark path')), one = middle(plot.querySelector('.one'));
        return {label: plot.getAttribute('aria-label'), at: mark - one,
                within: Math.min(...whiskers) < mark && mark < Math.max(...whiskers)}
    })"""
LINKS = """({
        dead: [...document.links].filter((e) => !document.querySelector(e.getAttribute('href'))).length,
        twice: document.querySelectorAll('[id]').length - new Set([...document.querySelectorAll('[id]')]
            .map((e) => e.id)).size,
        links: document.links.length, open: document.querySelectorAll('.outcome[open]').length})"""
OPENED = "document.querySelectorAll('details').forEach((e) => { e.open = true })"


def test_nothing_overflows(tmp_path: Path) -> None:
    """The page needs no scrolling to the side, on a phone or on a screen, even with everything unfolded."""
    long = [
        dataclasses.replace(one, subject=LONG, workload="w" * 60, reason="r" * 300)
        for one in (FASTER, DIFFERENT, FAILED)
    ]
    sessions = (EVERYTHING, session(*long), session())
    pages = [(render(one, "html"), width) for one in sessions for width in (400, 1200)]
    found = look(pages, f"({OPENED}, {OVERFLOWING})", tmp_path)
    assert found == [{"viewport": width, "page": True, "wide": []} for _, width in pages]


def seen(one: Session, script: str, folder: Path, *, dark: bool = False) -> Any:
    """The value of an expression in a report that is 1200 pixels wide."""
    (found,) = look([(render(one, "html"), 1200)], script, folder, dark=dark)
    return found


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the three scripts find in one report."""
    script = f"({{charts: {CHARTS}, sides: {SIDES}, links: {LINKS}}})"
    return seen(EVERYTHING, script, tmp_path_factory.mktemp("report"))


def test_the_charts_show_every_measured_workload(everything: dict[str, Any]) -> None:
    """A mark for each ratio at its value; curves if there are enough sizes; nothing else."""
    faster, even, slower = "sign faster", "sign no-change", "sign slower"
    assert everything["charts"] == [
        {"title": "Time, CPU", "marks": [faster, even, slower, even, even], "dots": 0},
        {"title": "Processor time, CPU", "marks": [faster], "dots": 0},
        {"title": "Memory, CPU", "marks": [faster], "dots": 0},
        {"title": "Synchronisations, CPU", "marks": [faster], "dots": 0},
        {"title": "Allocations, CPU", "marks": [faster], "dots": 0},
        {"title": "RL101 append-states, cpu", "marks": [], "dots": 10},  # the legend has two
        {"title": "RL201 batch-to-device, cpu", "marks": [], "dots": 10},
    ]


def test_marks_are_on_the_right_side_of_one(everything: dict[str, Any]) -> None:
    """Gains are to the right of the line at 1, losses to the left, within their intervals."""
    rows = {row["label"].split(":")[0]: row for row in everything["sides"]}
    assert rows["RL101 append-states"]["at"] > 100
    assert rows["RL207 loader-epoch"]["at"] < -20
    assert 0 < rows["RL201 batch-to-device"]["at"] < 20
    assert all(row["within"] for row in rows.values())
    assert rows["RL101 append-states"]["label"] == "RL101 append-states: 5.24× (5.0–5.4), faster"


def test_a_page_loads_nothing_and_runs_nothing(tmp_path: Path) -> None:
    """Hostile names and messages stay text, and no request leaves the file."""
    hostile = dataclasses.replace(FASTER, subject=HOSTILE, workload=HOSTILE, unit=HOSTILE, title=HOSTILE)
    failed = dataclasses.replace(FAILED, reason=HOSTILE)
    script = """({title: document.title, images: document.images.length,
        scripts: document.querySelectorAll('script').length,
        loaded: performance.getEntriesByType('resource').map((e) => e.name)})"""
    assert seen(session(hostile, DIFFERENT, failed), script, tmp_path) == {
        "title": "rlint verify, 2026-03-01 12:30 UTC",
        "images": 0,
        "scripts": 2,  # those of this test
        "loaded": [],
    }


def test_links_lead_to_the_details(everything: dict[str, Any]) -> None:
    """Every row of a chart and of the table links to its details; ids are unique."""
    found = everything["links"]
    assert (found["dead"], found["twice"], found["open"]) == (0, 0, 3)
    assert found["links"] == len(EVERYTHING.outcomes) + 9 + 2


@pytest.mark.parametrize("dark", [False, True])
def test_text_can_be_read_light_and_dark(dark: bool, tmp_path: Path) -> None:
    """Every text has a contrast of at least 4.5 to its background, as WCAG AA requires."""
    read = seen(EVERYTHING, READABLE, tmp_path, dark=dark)
    assert (read["poor"], read["paper"]) == ([], not dark)
    assert read["looked"] > 200
