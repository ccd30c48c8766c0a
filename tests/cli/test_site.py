"""The web site of the rules, as files and in a real browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from headless_browser import READABLE, look
from rlint.cli import cli
from rlint.evidence import recorded
from rlint.output.site import pages
from rlint.output.site.markdown_html import to_html
from rlint.registry.catalogue import catalogue, find

SHOWN = ("index.html", "rules/RL101.html", "rules/RL503.html", "rules/RL900.html", "rules/RL201.html")
WIDE = """(() => {
    const page = document.documentElement, inside = (e) => e.closest('.scrolls, pre') !== null;
    document.querySelectorAll('details').forEach((e) => { e.open = true });
    const all = [...document.querySelectorAll('body *')];
    return {scrolls: page.scrollWidth > page.clientWidth, wide: all.filter(
        (e) => !inside(e) && e.getBoundingClientRect().right > page.clientWidth + 1).map((e) => e.outerHTML)};
})()"""
CHOSEN = tuple(
    entry
    for entry in catalogue()
    if entry.code in "RL101 RL107 RL201 RL301 RL308 RL309 RL313 RL503 RL900 RL901".split()
)
"""Rules of every kind; building the pages of all takes too long."""
VOID = {"meta", "input", "br", "hr"}


def build(folder: Path) -> Result:
    """Run `rlint site`."""
    return CliRunner().invoke(cli, ["site", str(folder), "--isolated"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The files of a site of some rules, by path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rlint.registry.catalogue.catalogue", lambda *_: CHOSEN)
        return built(tmp_path_factory.mktemp("site") / "public")


def built(folder: Path) -> dict[str, str]:
    """Build a site into a folder; return its files by path."""
    done = build(folder)
    assert done.exit_code == 0, done.output
    found = (path for path in folder.rglob("*.html"))
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in found}


class Reader(HTMLParser):
    """A strict HTML parser: checks that elements are closed in order, and collects what the tests need."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.unnamed = 0
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record an element."""
        given = dict(attrs)
        assert len(given) == len(attrs), f"an attribute twice: {attrs}"
        assert tag not in ("script", "iframe", "img", "link"), tag
        assert not [name for name in given if name.startswith("on") or name == "src"]
        self.ids += [given["id"] or ""] if "id" in given else []
        self.links += [given["href"] or ""] if tag == "a" else []
        self.headings += [int(tag[1])] if re.fullmatch("h[1-6]", tag) else []
        named = given.get("aria-label") or given.get("aria-hidden")
        self.unnamed += tag == "svg" and not named and "svg" not in self.open
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close it."""
        assert self.open.pop() == tag


def test_every_rule_has_a_page_that_its_address_names(site: dict[str, str]) -> None:
    """The index links to each page, pages to sections; headings are in order, charts have names."""
    hold(site)
    assert set(site) == {"index.html", *(f"rules/{entry.code}.html" for entry in CHOSEN)}
    wanted = {"what-it-does", "fix-safety", "measured", "references"}
    assert wanted <= set(Reader(site["rules/RL101.html"]).ids)


@pytest.mark.slow
def test_the_pages_of_all_rules_are_whole(tmp_path: Path) -> None:
    """The pages of all rules are valid."""
    site = built(tmp_path)
    hold(site)
    assert set(site) == {"index.html", *(f"rules/{entry.code}.html" for entry in catalogue())}


def hold(site: dict[str, str]) -> None:
    """Every page is well formed; its links lead somewhere, headings are in order, charts have names."""
    for name, text in site.items():
        page = Reader(text)
        assert len(set(page.ids)) == len(page.ids), name
        assert page.unnamed == 0, name
        assert page.headings[0] == 1
        assert all(
            after <= before + 1 for before, after in zip(page.headings, page.headings[1:], strict=False)
        )
        for link in page.links:
            if link.startswith("#"):
                assert link[1:] in page.ids, (name, link)
            elif not link.startswith("https://"):
                assert link.removeprefix("../") in site, (name, link)


def test_charts_show_what_was_recorded(site: dict[str, str]) -> None:
    """Each size of each workload has a row with the interval from the evidence."""
    evidence = recorded.of(find("RL101"))
    sizes = {
        f"{one.size:,} {outcome.unit}"
        for recording in evidence.recordings
        for outcome in recording.outcomes
        for one in outcome.measurements
        if one.claimed and one.ratio and one.size is not None
    }
    assert len(sizes) >= 4
    labels = re.findall(r'aria-label="([^"]+)"', site["rules/RL101.html"])
    assert all(any(label.startswith(f"{size} ") and "×" in label for label in labels) for size in sizes)
    assert 'class="curves"' in site["rules/RL101.html"]


def test_a_site_is_rebuilt_and_nothing_else_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages of removed rules are deleted, other files are kept, and a folder with other content is
    refused.
    """
    monkeypatch.setattr("rlint.registry.catalogue.catalogue", lambda *_: CHOSEN[:1])
    few = {"index.html": "<html>", "rules/RL101.html": "<html>"}
    monkeypatch.setattr("rlint.output.site.pages", lambda *_: few)
    folder = tmp_path / "public"
    assert build(folder).exit_code == 0
    (folder / "CNAME").write_text("rules.example.org")
    few["rules/RL102.html"] = few.pop("rules/RL101.html")
    assert build(folder).exit_code == 0
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == [
        ".rlint-site", "CNAME", "RL102.html", "index.html",
    ]  # fmt: skip
    (folder / ".rlint-site").write_text("../outside.html\nrules/../../outside.html\nCNAME\n")
    (tmp_path / "outside.html").write_text("mine")
    assert build(folder).exit_code == 0
    assert (tmp_path / "outside.html").read_text() == "mine"
    assert (folder / "CNAME").exists()
    refused = build(tmp_path)
    assert (refused.exit_code, "holds other files" in refused.output) == (2, True)


def test_markdown_cannot_bring_markup() -> None:
    """Pages of plugins are untrusted text: HTML, scripts and other URLs in them are shown as text."""
    text = to_html(
        "# <b>\n\n<script>alert(1)</script> [x](javascript:alert(1)) `<i>` see https://a.org/b_c.\n\n"
        '```python\n<u> & "\n```\n\n[y](https://b.org "t")\n'
    )
    assert not re.search(r"<(script|b|i|u)\b", text)
    assert 'href="javascript' not in text
    assert '<a href="https://a.org/b_c">https://a.org/b_c</a>.' in text
    assert text.count("<a ") == 2


@pytest.mark.parametrize("dark", [False, True])
def test_pages_fit_a_phone_and_can_be_read(dark: bool, site: dict[str, str], tmp_path: Path) -> None:
    """Nothing is wider than a phone screen, and every text has a contrast of 4.5, in both colour schemes."""
    shown = [(site[name], 390) for name in SHOWN]
    for seen in look(shown, f"({{...{WIDE}, ...{READABLE}}})", tmp_path, dark=dark):
        assert (seen["scrolls"], seen["wide"], seen["poor"], seen["paper"]) == (False, [], [], not dark)
        assert seen["looked"] > 20


def test_the_index_is_filtered_without_a_script(site: dict[str, str], tmp_path: Path) -> None:
    """Filters by family, kind of fix and default show the matching rules, alone and combined."""
    script = """['family-networks', 'fix-none', 'default-opt-in', 'family-all'].map((id) => {
        document.getElementById(id).click();
        const rows = [...document.querySelectorAll('.rules tbody tr')];
        return rows.filter((e) => e.offsetHeight).map((e) => e.id);
    })"""
    [seen] = look([(site["index.html"], 1200)], script, tmp_path)
    rules: list[Any] = list(CHOSEN)
    networks = [entry for entry in rules if entry.family == "networks"]
    advice = [entry for entry in networks if entry.fixes == "none"]
    wanted = [networks, advice, [entry for entry in advice if entry.opt_in]]
    wanted.append([entry for entry in rules if entry.fixes == "none" and entry.opt_in])
    assert seen == [[entry.code for entry in some] for some in wanted]
    assert all(seen)


def test_pages_are_made_without_evidence() -> None:
    """The page of a rule without evidence says so."""
    evidence = recorded.Evidence(find("RL101"), ())
    text = pages([evidence], {})["rules/RL101.html"]
    assert "Not yet." in text
    assert "<svg" not in text
