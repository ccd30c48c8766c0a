"""An accessibility checker finds no problems in rlint's HTML pages, in a real browser.

The checker is axe-core (`npm install --global axe-core`, or AXE names its `axe.min.js`). Without it,
or without a browser, the tests are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import proofs
from headless_browser import look
from reports import finding, replacing, report, source
from rlint.evidence import recorded
from rlint.findings import Problem
from rlint.output import ReportOptions, reporter
from rlint.output.site import pages
from rlint.output.verify import render
from rlint.prove import report as prove_report
from rlint.registry.catalogue import catalogue
from verify_sessions import EVERYTHING

TEXT = "for x in y:\n    a = cat(a)\n"
RUN = """(async () => {
    document.querySelectorAll('details').forEach((e) => { e.open = true });
    const found = await axe.run(document, {resultTypes: ['violations'], iframes: false});
    return found.violations.map((e) => [e.impact, e.id, e.nodes.map((node) => node.html)]);
})()"""
WIDTHS = (400, 1400)


@pytest.fixture(scope="module")
def axe() -> str:
    """The text of axe-core."""
    path = os.environ.get("AXE")
    if path is None and (npm := shutil.which("npm")) is not None:
        root = subprocess.run([npm, "root", "--global"], capture_output=True, text=True, check=False)
        path = str(Path(root.stdout.strip()) / "axe-core" / "axe.min.js")
    if path is None or not Path(path).is_file():
        pytest.skip("axe-core is not installed")
    return Path(path).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    """The pages of the commands."""
    found = report(
        finding(
            TEXT, "cat(a)", advice="Use `list`", chain=("a.py:1 for",), fix=replacing(TEXT, "cat(a)", "z")
        ),
        problems=(Problem("b.py", "is no Python", 3),),
        sources=(source(TEXT),),
    )
    chosen = [entry for entry in catalogue() if entry.code in ("RL101", "RL201")]
    site = pages([recorded.of(entry) for entry in chosen], {"RL101": ["its source"]})
    return {
        "check": reporter("html")(found, ReportOptions()),
        "verify": render(EVERYTHING, "html"),
        "prove": prove_report.render(proofs.EVERY_VERDICT, "html", color=False, width=None),
        **site,
    }


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_serious_is_found(axe: str, shown: dict[str, str], dark: bool, tmp_path: Path) -> None:
    """On a phone and on a screen, with everything unfolded."""
    added = [text.replace("<head>", f"<head><script>{axe}</script>") for text in shown.values()]
    looked = [(text, width) for text in added for width in WIDTHS]
    found = look(looked, RUN, tmp_path, dark=dark)
    serious = [
        (name, width, violation)
        for (name, width), violations in zip(
            [(name, width) for name in shown for width in WIDTHS], found, strict=True
        )
        for violation in violations
        if violation[0] in ("serious", "critical")
    ]
    assert serious == [], json.dumps(serious, indent=1)
