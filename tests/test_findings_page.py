"""The page of findings, as a browser shows it."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from headless_browser import look
from reports import finding, replacing, report, source
from rlint.findings import Applicability, Fix, Heat, Problem
from rlint.output import ReportOptions, RulePage, reporter
from rlint.run_data import Report

TEXT = "for x in y:\n\ta = cat(a)  # <b>\u202e\n    " + "b" * 300 + "(y)\n"
EVIL = "<script>alert(1)</script><img src=https://example.org/x onerror=alert(1)>"
PAGE = RulePage(
    "RL101",
    "concat-grown-buffer",
    "buffers",
    "Grows.",
    f"Grows. {EVIL}\n\n## Why\nSlow `code`.\n\n| a | b |\n|---|---|\n| {'wide ' * 30} | 2 |\n\n"
    "[on](javascript:alert(1))\n",
)
FINDINGS = (
    finding(
        TEXT,
        "cat(a)",
        message=f"`a` {EVIL}",
        chain=("a.py:1 for", "f"),
        advice="Use `list`",
        fix=replacing(TEXT, "cat(a)", "z"),
    ),
    finding(
        TEXT,
        "b" * 300,
        "RL201",
        heat=Heat.COLD,
        fix=replacing(TEXT, "(y)", "", Applicability.UNSAFE, "it moves"),
    ),
    finding(TEXT, "x", "RL401", path="other/<i>.py", fix=Fix("Nothing", Applicability.SAFE, ())),
)
BROKEN = Problem("b.py", f"SyntaxError {EVIL}", 3, None, "is it `Python 2`?")
OPTIONS = ReportOptions(measured={"RL101": "2.1× as fast"}, pages={"RL101": PAGE})


def page(found: Report) -> str:
    """The report as HTML."""
    return reporter("html")(found, OPTIONS)


@pytest.fixture(scope="module")
def shown() -> str:
    """A page with everything on it."""
    return page(report(*FINDINGS, problems=(BROKEN,), sources=(source(TEXT),)))


def test_it_needs_nothing_else_and_runs_nothing(shown: str) -> None:
    """The page has no script, picture or external style; code is shown as text."""
    elements = set(re.findall(r"<([a-z0-9]+)", shown))
    assert not elements & {"script", "img", "link", "iframe", "object", "form", "base", "svg"}
    attributes = set(re.findall(r'\s([a-z-]+)="', " ".join(re.findall(r"<[a-z][^>]*>", shown))))
    assert attributes <= {
        *("charset", "http-equiv", "content", "name", "lang", "class", "id", "href", "scope", "role"),
        *("data-label", "tabindex"),
    }
    assert set(re.findall(r'href="([^"]*)"', shown)) == {"#rule-RL101"}
    assert "default-src 'none'" in html.unescape(shown)
    assert shown.count("&lt;script&gt;") == 3
    assert "\u202e" not in shown


def test_a_browser_shows_it(shown: str, tmp_path: Path) -> None:
    """On a screen and on a phone, findings are marked in their code, and nothing is wider than the window."""
    script = """({
        wide: document.documentElement.scrollWidth > innerWidth,
        tiles: [...document.querySelectorAll('.counts li')].map(one => one.textContent),
        marks: [...document.querySelectorAll('mark')].map(one => one.textContent.slice(0, 8)),
        titles: [...document.querySelectorAll('h2')].map(one => one.textContent),
        files: [...document.querySelectorAll('.file > summary code')].map(one => one.textContent),
        facts: [...document.querySelector('article').querySelectorAll('dd')].map(one => one.textContent),
        removed: document.querySelector('.row.removed').textContent,
        linked: document.querySelector(document.querySelector('.rows a').getAttribute('href')) !== null,
        tiny: [...document.querySelectorAll('body *')].filter(
            one => one.childElementCount === 0 && parseFloat(getComputedStyle(one).fontSize) < 11).length,
        alerts: document.querySelectorAll('script[src], img, main script').length,
    })"""
    found = look([(shown, 1200), (shown, 360)], script, tmp_path)
    for one in found:
        assert one["wide"] is False
        assert one["tiles"][:3] == ["3findings", "2hot", "0warm"]
        assert one["marks"] == ["cat(a)", "bbbbbbbb"]
        assert one["titles"] == ["Not checked", "Rules", "Files", "About the rules", "Why"]
        assert one["files"] == ["agent.py", "other/<i>.py"]
        assert one["facts"] == ["a.py:1 for → f", "Use list", "2.1× as fast", "Repair it (safe)"]
        assert "cat(a)" in one["removed"]
        assert (one["linked"], one["tiny"], one["alerts"]) == (True, 0, 0)


def test_its_text_can_be_read_in_the_dark(shown: str, tmp_path: Path) -> None:
    """Every text has enough contrast to its background, in both colour schemes."""
    script = """(() => {
        const light = colour => {
            const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(part => {
                const value = part / 255;
                return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
            });
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
        };
        const behind = one => {
            for (; one; one = one.parentElement) {
                const colour = getComputedStyle(one).backgroundColor;
                if (!/, 0\\)$|transparent/.test(colour)) return colour;
            }
            return 'rgb(255, 255, 255)';
        };
        let worst = 21;
        for (const one of document.querySelectorAll('body *')) {
            if (![...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())) continue;
            const pair = [light(getComputedStyle(one).color), light(behind(one))].sort((a, b) => b - a);
            worst = Math.min(worst, (pair[0] + 0.05) / (pair[1] + 0.05));
        }
        return {worst, paper: light(getComputedStyle(document.body).backgroundColor)};
    })()"""
    (light,) = look([(shown, 800)], script, tmp_path)
    dark_folder = tmp_path / "dark"
    dark_folder.mkdir()
    (dark,) = look([(shown, 800)], script, dark_folder, dark=True)
    assert light["paper"] > 0.9
    assert dark["paper"] < 0.1
    assert min(light["worst"], dark["worst"]) >= 4.5


def test_a_clean_run_says_so() -> None:
    """Nothing found is an answer, too."""
    text = page(report(checked=12))
    assert "All checks passed!" in text
    assert "12 files checked" in text
    assert "<h2>" not in text
