"""Conventions of ruff's command line: `--fix-only`, `rlint clean`, environment variables."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]


def test_fix_only_repairs_and_reports_nothing_else(run: Run, folder: Path) -> None:
    """Findings without a fix do not fail a pre-commit hook."""
    done = run("check", "--fix-only")
    assert done.exit_code == 0, done.output
    assert (folder / "fixable.py").read_text() == "x = 1\n"
    assert "RL999" not in done.output
    assert "1 finding" in done.output
    assert run("check", "unfixable.py").exit_code == 1, "the finding is still there"


def test_fix_only_can_report_that_something_was_fixed(run: Run) -> None:
    """As `--exit-non-zero-on-fix` asks."""
    assert run("fix", "--fix-only", "--exit-non-zero-on-fix").exit_code == 1
    assert run("fix", "--fix-only", "--exit-non-zero-on-fix").exit_code == 0


def test_fix_only_reads_standard_input(run: Run) -> None:
    """The fixed text goes to standard output."""
    done = run("check", "--fix-only", "-", stdin=b"x = 1  # rlint: ignore[RL101]\n")
    assert (done.exit_code, done.stdout) == (0, "x = 1\n")


def test_fix_only_contradicts_no_fix(run: Run) -> None:
    """Contradictory options are refused."""
    assert "exclude each other" in run("check", "--fix-only", "--no-fix").output


def test_clean_removes_what_rlint_has_kept(run: Run, folder: Path) -> None:
    """A second time there is nothing to do."""
    run("check", "--exit-zero")
    cache = folder / ".rlint_cache"
    assert cache.is_dir()
    done = run("clean")
    assert (done.exit_code, done.output) == (0, f"removed {cache}\n")
    assert not cache.exists()
    assert run("clean").output == "no cache to remove\n"


def test_clean_leaves_what_others_have_put_there(run: Run, folder: Path) -> None:
    """Files of other programs, links, and folders that rlint did not create."""
    run("check", "--exit-zero")
    cache = folder / ".rlint_cache"
    (cache / "notes.txt").write_text("mine")
    run("clean")
    assert [path.name for path in cache.iterdir() if path.suffix == ".txt"] == ["notes.txt"]
    (folder / "rlint.toml").write_text('cache-dir = "data"\n')
    (folder / "data").mkdir()
    (folder / "data" / "0.1.0").mkdir()
    (folder / "data" / "0.1.0" / "a.json").write_text("{}")
    assert run("clean").output == "no cache to remove\n"
    assert (folder / "data" / "0.1.0" / "a.json").exists()


@pytest.mark.parametrize(
    ("variable", "value", "codes"),
    [
        ("RLINT_SELECT", "RL901", ["RL901"]),
        ("RLINT_IGNORE", "RL900,RL1", ["RL901"]),
        ("RLINT_EXCLUDE", "fixable.py,clean.py", ["RL901"]),
        ("RLINT_ISOLATED", "1", []),
    ],
)
def test_the_environment_gives_options(
    run: Run, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, codes: list[str]
) -> None:
    """As `RUFF_…` does; an option on the command line is stronger."""
    monkeypatch.setenv(variable, value)
    monkeypatch.setenv("RLINT_OUTPUT_FORMAT", "json")
    found = json.loads(run("check", "--exit-zero").stdout)
    assert [entry["code"] for entry in found] == codes


def test_an_option_is_stronger_than_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line has the last word."""
    monkeypatch.setenv("RLINT_SELECT", "RL900")
    assert "RL901" in run("check", "--select", "RL901").output
    monkeypatch.setenv("RLINT_JOBS", "none")
    assert "'none' is not a valid integer" in run("check").output
