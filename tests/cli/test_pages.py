from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from rlint.registry.catalogue import catalogue

Run = Callable[..., Result]


def test_a_rules_page(run: Run) -> None:
    """`rlint rule` explains a rule, by code or by name, as Markdown if the output is not a terminal."""
    page = run("rule", "RL900")
    assert page.stdout.startswith("# unused-suppression (RL900)\n")
    assert "## Fix safety" in page.stdout
    assert run("rule", "unused-suppression").stdout == page.stdout
    assert run("rule", "rl900").stdout == page.stdout


def test_all_pages(run: Run) -> None:
    """`rlint rule --all` is the whole handbook."""
    text = run("rule", "--all").stdout
    assert all(f"# {entry.name} ({entry.code})" in text for entry in catalogue())
    data = json.loads(run("rule", "--all", "--output-format", "json").stdout)
    assert [entry["code"] for entry in data] == [entry.code for entry in catalogue()]


def test_which_rule(run: Run) -> None:
    """Without a rule, or with a prefix of several, the message says what to do."""
    assert "`rlint rules` lists them" in run("rule").stderr
    assert "name one of them" in run("rule", "RL9").stderr


def test_the_table_of_rules(run: Run) -> None:
    """`rlint rules` lists every rule once, with its family, fix and summary."""
    lines = run("rules").stdout.splitlines()
    assert len(lines) == len(catalogue()) + 1
    assert lines[-2].split()[:5] == ["RL900", "unused-suppression", "suppressions", "safe", "opt-in"]
    data = json.loads(run("rules", "--output-format=json").stdout)
    assert data[-2]["summary"] == "A suppression comment that suppresses no finding."


def test_effective_settings(run: Run, folder: Path) -> None:
    """`rlint config` shows each setting and its origin."""
    (folder / "sub").mkdir()
    (folder / "sub" / "pyproject.toml").write_text(
        '[tool.rlint]\noutput-format = "concise"\nselect = ["RL900"]\n'
        'per-file-ignores = { "t.py" = ["RL9"] }\n'
    )
    (folder / "sub" / "t.py").touch()
    shown = run("config", "sub").stdout
    assert 'output-format = "concise"  # sub/pyproject.toml' in shown
    assert 'select = ["RL900"]  # sub/pyproject.toml' in shown
    assert "fix = false  # default" in shown
    data = json.loads(run("config", ".", "sub/t.py", "--output-format", "json").stdout)
    assert [Path(entry["config"]).name for entry in data] == ["rlint.toml", "pyproject.toml"]
    assert data[0]["settings"]["select"]["origin"] == "default, rlint.toml"
    assert data[1]["settings"]["select"]["value"] == []
    assert "# default" in run("config", "--isolated").stdout
