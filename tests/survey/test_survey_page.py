"""The page of a survey, as a browser shows it, and the tallies on it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headless_browser import READABLE, look
from rlint.output.survey_page import SurveyReport, render
from rlint.output.survey_tallies import RepositoryTally, RuleTally, Tallies, add_changes, added, tally

EVIL = "https://host/<script>alert(1)</script>/a-name-that-is-as-long-as-names-of-repositories-are\u202e"
RULES: Tallies = {
    "RL101": RuleTally(
        "concat-grown-buffer",
        1234,
        97,
        Counter(high=300, medium=400, low=434, unknown=100),
        Counter(safe=200, unsafe=800, none=234),
        900,
        12,
        3,
        Counter({f"{EVIL}{number}": 50 - number for number in range(30)}),
    ),
    "RL205": RuleTally("create-then-move", removed=4),
}
REPOSITORIES = [
    *(
        RepositoryTally(f"{EVIL}{number}", "0123456789abcdef", 120, 1, 60, 20, 40, 0, number % 3, 1)
        for number in range(210)
    ),
    RepositoryTally("new", findings=1),
    RepositoryTally(EVIL, reason="took more than `300` s"),
]
MEASURED = {"RL101": "11× as fast on a GPU with <b>"}
SHOWN = render(SurveyReport("now", RULES, REPOSITORIES, MEASURED, "before", ["A remark."]))


def entry(code: str, fingerprint: str, level: str = "high") -> dict[str, Any]:
    """A finding, as far as it is counted."""
    impact = {"level": level, "basis": ""}
    return {
        "code": code,
        "name": code.lower(),
        "fingerprint": fingerprint,
        "confidence": "certain",
        "impact": impact,
        "fix": None,
    }


def test_it_runs_nothing_and_needs_nothing() -> None:
    """Names are escaped; links point to the page itself."""
    elements = set(re.findall(r"<([a-z0-9]+)", SHOWN))
    assert not elements & {"script", "img", "link", "iframe", "object", "form", "base", "b&gt;"}
    assert set(re.findall(r'href="([^"]*)"', SHOWN)) == {"#rule-RL101"}
    assert "\u202e" not in SHOWN
    for said in (
        "RL205 create-then-move (4)",
        "A remark.",
        "took more than <code>300</code> s",
        "and 77 more",
    ):
        assert said in SHOWN
    assert "11 more are in the table of findings" in SHOWN


@pytest.mark.parametrize("dark", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_browser_shows_it(dark: bool, tmp_path: Path) -> None:
    """On a phone and on a screen nothing is wider than the window, and every text can be read."""
    script = f"""({{...{READABLE}, wide: document.documentElement.scrollWidth > innerWidth,
        tiles: [...document.querySelectorAll('.counts li')].map(one => one.textContent)}})"""
    for one in look([(SHOWN, 400), (SHOWN, 1400)], script, tmp_path, dark=dark):
        assert one["wide"] is False
        assert one["poor"] == []
        assert one["paper"] is not dark
        assert one["tiles"][:3] == ["212repositories", "25,200files", "12,601findings"]


def test_the_first_run_and_the_clean_one() -> None:
    """There may be nothing to compare with, and nothing to show."""
    assert "There is no earlier run to compare with." in render(SurveyReport("now", RULES, REPOSITORIES))
    assert "Nothing was found." in render(SurveyReport("now", {}, []))


@given(
    st.lists(st.lists(st.sampled_from("abcdef"), unique=True), max_size=4),
    st.lists(st.sampled_from("abcdef"), unique=True),
)
def test_tallies_add_up(repositories: list[list[str]], before: list[str]) -> None:
    """The sums do not depend on the order of repositories; changes are determined by fingerprints."""
    found = [
        tally(str(number), [entry(f"RL{ord(one) % 3}", one) for one in names])
        for number, names in enumerate(repositories)
    ]
    forward, backward = ({}, {})
    for one in found:
        added(forward, one)
    for one in reversed(
        [tally(str(n), [entry(f"RL{ord(x) % 3}", x) for x in names]) for n, names in enumerate(repositories)]
    ):
        added(backward, one)
    assert forward == backward
    assert sum(one.findings for one in forward.values()) == sum(map(len, repositories))
    for names in repositories:
        now, old = ([entry(f"RL{ord(one) % 3}", one) for one in each] for each in (names, before))
        rules = tally("a", now)
        new, removed = add_changes(rules, old, now)
        assert (new, removed) == (len(set(names) - set(before)), len(set(before) - set(names)))
        assert (sum(one.new for one in rules.values()), sum(one.removed for one in rules.values())) == (
            new,
            removed,
        )
