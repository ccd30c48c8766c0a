"""Links to the pages of rules: published pages, or else local ones that an editor or browser can show."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from editors import editor, run

PROGRAM = """\
import numpy as np


def collect(env, steps):
    rewards = np.empty(0, dtype=np.float32)
    for _ in range(steps):
        _, reward, _, _, _ = env.step(env.action_space.sample())
        rewards = np.append(rewards, np.float32(reward))
    return rewards
"""


async def linked(folder: Path, options: dict[str, Any] | None = None) -> str:
    """The link of a diagnostic, which is also that of the hover; with its page, if that is a file."""
    (folder / "train.py").write_text(PROGRAM)
    async with editor(folder, options={"select": ["RL101"], **(options or {})}) as opened:
        opened.open("train.py")
        [found] = await opened.diagnostics("train.py")
        assert found.code_description is not None
        url = found.code_description.href
        shown = await opened.hover("train.py", found.range.start.line, found.range.start.character)
        assert f"[Open the page of RL101]({url})" in (shown or "")
        if url.startswith("file:"):
            path = Path(unquote(urlsplit(url).path))
            while not path.is_file():  # it is written in the background
                await asyncio.sleep(0.02)
        return url


@pytest.mark.parametrize(
    ("options", "suffix", "beginning"),
    [({}, ".html", "<!DOCTYPE html>"), ({"rulePages": "markdown"}, ".md", "# concat-grown-buffer (RL101)")],
)
def test_pages_are_written_where_none_are_published(
    tmp_path: Path, options: dict[str, Any], suffix: str, beginning: str
) -> None:
    """The page is a file of the requested kind, in the user's cache folder, with the measurements."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "rlint.toml").touch()

    async def scenario() -> None:
        url = await linked(folder, options)
        path = Path(unquote(urlsplit(url).path))
        assert path.name == f"RL101{suffix}"
        assert folder not in path.parents
        text = path.read_text()
        assert text.lower().startswith(beginning.lower())
        assert "Measured" in text

    run(scenario())


@pytest.mark.slow
def test_pages_that_are_published(tmp_path: Path) -> None:
    """The configuration or the editor sets the base URL; the editor has priority."""
    (tmp_path / "rlint.toml").write_text('rule-url = "https://example.org/rules"\n')

    async def scenario() -> None:
        assert await linked(tmp_path) == "https://example.org/rules/RL101.html"
        other = await linked(tmp_path, {"ruleUrl": "https://example.com/r/"})
        assert other == "https://example.com/r/RL101.html"

    run(scenario())
