"""Pages as a real browser shows them, without a window."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from patience import PATIENCE

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge", "microsoft-edge")
_OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=3000")
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
READABLE = """(() => {
    const rgb = (c) => c.match(/[\\d.]+/g).map(Number);
    const part = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const light = (c) => { const [r, g, b] = rgb(c).map(part); return .2126 * r + .7152 * g + .0722 * b };
    const behind = (e) => { for (; e; e = e.parentElement) {
        const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] !== 0) return c } };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), poor = [];
    let looked = 0;
    while (walker.nextNode()) {
        const e = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || e.tagName == 'SCRIPT') continue;
        const style = getComputedStyle(e);
        const colour = e.tagName.toLowerCase() == 'text' ? style.fill : style.color;
        const [a, b] = [light(colour), light(behind(e))].sort((x, y) => y - x);
        looked++;
        if ((a + .05) / (b + .05) < 4.5) poor.push(e.tagName + ': ' + e.textContent);
    }
    const paper = light(getComputedStyle(document.body).backgroundColor) > .5;
    return {poor, looked, paper};
})()"""
"""The texts whose contrast to their background is below 4.5 (WCAG AA), the number of examined texts, and
whether the page is light.
"""
_FIRST = "<script>window.failures = []; onerror = (message) => { failures.push(String(message)) }</script>"


def look(pages: Sequence[tuple[str, int]], script: str, folder: Path, *, dark: bool = False) -> list[Any]:
    """Return what the JavaScript expression `script`, or its promise, evaluates to in each page of this width
    in pixels.

    Each page is shown in a frame of its own, because windows have a minimum width, and without its content
    policy, which forbids scripts. Errors of scripts fail the test. Skips the test if there is no browser.
    """
    browser = next(filter(None, map(shutil.which, _NAMES)), None)
    if browser is None:
        pytest.skip(f"no browser of {', '.join(_NAMES)} is on the PATH")
    frames = [_frame(text, width, number, script) for number, (text, width) in enumerate(pages)]
    outer = folder / "outer.html"
    outer.write_text(
        '<!DOCTYPE html><html style="color-scheme: light dark"><meta charset="utf-8"><body>'
        + "".join(frames),
        encoding="utf-8",
    )
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    profile = f"--user-data-dir={folder / 'profile'}"
    done = subprocess.run(
        [browser, *_OPTIONS, *scheme, profile, "--window-size=1400,900", "--dump-dom", outer.as_uri()],
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    shown = done.stdout.decode()
    found = dict(re.findall(r'<pre id="seen-(\d+)">(.*?)</pre>', shown, re.DOTALL))
    assert len(found) == len(pages), shown[-2000:] + done.stderr.decode()[-2000:]
    seen = [json.loads(html.unescape(found[str(number)])) for number in range(len(pages))]
    assert [failure for one in seen for failure in one["failures"]] == []
    return [one["value"] for one in seen]


def _frame(page: str, width: int, number: int, script: str) -> str:
    text, policies = _POLICY.subn("", page)
    assert policies == 1, "the page has no policy"
    last = (
        "<script>addEventListener('load', async () => {"
        f"const pre = parent.document.createElement('pre'); pre.id = 'seen-{number}';"
        f"let value; try {{ value = await {script} }} catch (error) {{ failures.push(String(error)) }}"
        "pre.textContent = JSON.stringify({failures, value}); parent.document.body.append(pre) })</script>"
    )
    text = text.replace("<head>", f"<head>{_FIRST}").replace("</body>", f"{last}</body>")
    style = f"width: {width}px; height: 900px; border: 0"
    return f'<iframe style="{style}" srcdoc="{html.escape(text)}"></iframe>'
