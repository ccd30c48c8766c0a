from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]


@pytest.mark.parametrize("command", [("fix",), ("check", "--fix"), ("check", "--config", "fix = true")])
def test_fixing_changes_files_and_reports_what_remains(
    run: Run, folder: Path, command: tuple[str, ...]
) -> None:
    """`rlint fix` applies all safe fixes and exits with 1 while findings remain."""
    done = run(*command)
    assert (folder / "fixable.py").read_text() == "x = 1\n"
    assert (folder / "unfixable.py").read_text() == "y = 2  # rlint: ignore[RL999]\n"
    assert done.exit_code == 1
    assert "Found 2 findings (1 fixed, 1 remaining)." in done.stdout
    assert "RL900" not in done.stdout


def test_exit_status_of_fix(run: Run, folder: Path) -> None:
    """0 once nothing remains; --exit-non-zero-on-fix makes it 1 where something was fixed."""
    before = (folder / "fixable.py").read_text()
    assert run("fix", "fixable.py").exit_code == 0
    assert run("fix", "fixable.py", "--exit-non-zero-on-fix").exit_code == 0
    (folder / "fixable.py").write_text(before)
    assert run("fix", "fixable.py", "--exit-non-zero-on-fix").exit_code == 1
    assert run("fix", "--exit-zero").exit_code == 0
    assert run("fix", "gone.py").exit_code == 2


def test_no_fix_beats_the_configuration(run: Run, folder: Path) -> None:
    """`--no-fix` changes no file even if the configuration says `fix = true`."""
    run("check", "--config", "fix = true", "--no-fix")
    assert "ignore" in (folder / "fixable.py").read_text()


@pytest.mark.parametrize("command", ["check", "fix"])
def test_diff_shows_and_writes_nothing(run: Run, folder: Path, command: str) -> None:
    """--diff prints a unified diff, exits with 1 if there is one, and changes no file."""
    shown = run(command, "--diff")
    assert "-x = 1  # rlint: ignore[RL101]\n+x = 1\n" in shown.stdout
    assert shown.exit_code == 1
    assert "Would fix 1 of 2 findings." in shown.stderr
    assert "ignore" in (folder / "fixable.py").read_text()
    nothing = run(command, "--diff", "unfixable.py")
    assert (nothing.exit_code, nothing.stdout) == (0, "")
    assert run(command, "--diff", "gone.py").exit_code == 2


def test_show_fixes_lists_what_was_done(run: Run) -> None:
    """--show-fixes names files and rules."""
    assert "fixed fixable.py: 1 × RL900 (unused-suppression)" in run("fix", "--show-fixes").stderr


def test_a_file_that_cannot_be_written_is_reported(run: Run, folder: Path) -> None:
    """A read-only file stays as it is, its finding remains, and the other files are fixed."""
    (folder / "second.py").write_text((folder / "fixable.py").read_text())
    (folder / "second.py").chmod(0o444)
    done = run("fix", "fixable.py", "second.py", "--output-format", "concise")
    assert done.exit_code == 1
    assert "second.py: not written" in done.stderr
    assert "second.py:1:8: RL900" in done.stdout
    assert "(1 fixed, 1 remaining)" in done.stdout
    assert (folder / "fixable.py").read_text() == "x = 1\n"


def test_ignore_noqa_cannot_loosen_a_fix(run: Run, folder: Path) -> None:
    """Suppressed findings are not fixed."""
    (folder / "hidden.py").write_text("x = 1  # rlint: ignore[RL101, RL900]\n")
    run("fix", "hidden.py", "--ignore-noqa")
    assert "RL101" in (folder / "hidden.py").read_text()
