"""`rlint check --watch` as a process, while files are edited."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from fixture_folders import ROOT
from pseudo_terminal import Terminal, in_terminal
from rlint.cli import main
from rlint.cli.request import Request
from rlint.cli.run import run

FOUND = "x = 1  # rlint: ignore[RL999]\n"
WATCHING = "Watching for changes; press Ctrl-C to stop."
COMMAND = [sys.executable, "-m", "rlint", "check", "--watch", "--output-format", "concise"]


def environment(term: str) -> dict[str, str]:
    """That of the tests, with a kind of terminal."""
    kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    return {**kept, "PYTHONPATH": str(ROOT), "TERM": term, "NO_COLOR": "1"}


def replaced(path: Path, text: str) -> None:
    """Write a file atomically, as editors do: a new file replaces the old one."""
    adjacent = path.with_name(f".{path.name}.swp")
    adjacent.write_text(text)
    adjacent.replace(path)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with one finding."""
    (tmp_path / "rlint.toml").write_text('select = ["RL901"]\n')
    (tmp_path / "agent.py").write_text(FOUND)
    (tmp_path / "sub").mkdir()
    return tmp_path


def after(terminal: Terminal) -> str:
    """What the next check shows."""
    return terminal.read_until(WATCHING)


def test_every_change_is_checked_until_the_user_ends_it(project: Path) -> None:
    """Edited, replaced, created, renamed and deleted files are noticed at once, and so are settings; syntax
    errors do not end the process; Ctrl-C does, without a traceback.
    """
    with in_terminal(COMMAND, project, environment("xterm")) as terminal:
        shown = after(terminal)
        assert shown.startswith("\x1b[2J")
        assert "agent.py:1:8: RL901" in shown
        replaced(project / "agent.py", "x = 1\n")
        assert "All checks passed!" in after(terminal)
        (project / "agent.py").write_text("def half(\n")
        assert "agent.py:1" in after(terminal)
        (project / "agent.py").write_text(FOUND * 2)
        assert "agent.py:2:8: RL901" in after(terminal)
        (project / "sub" / "new.py").write_text(FOUND)
        assert "sub/new.py:1:8: RL901" in after(terminal)
        (project / "sub" / "new.py").rename(project / "sub" / "other.py")
        assert "sub/other.py:1:8: RL901" in after(terminal)
        (project / "sub" / "other.py").unlink()
        shown = after(terminal)
        assert "other.py" not in shown
        assert "agent.py:2:8" in shown
        (project / "rlint.toml").write_text("select = [\n")
        assert "rlint: error: rlint.toml: invalid TOML" in after(terminal)
        (project / "rlint.toml").write_text('select = ["RL101"]\n')
        assert "All checks passed!" in after(terminal)
        (project / "requirements.txt").write_text("torch>=1.13\n")  # it may state versions
        assert "All checks passed!" in after(terminal)
        (project / "agent.py").unlink()
        assert "no Python files found" in after(terminal)
        terminal.type("\x03")
        status, rest = terminal.end()
    assert status == 130
    assert "Traceback" not in rest


def test_a_file_that_comes_while_a_check_ends_is_seen(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line about watching is printed at once."""
    checks: list[object] = []

    def check_during_writes(request: Request) -> int:
        checks.append(request)
        if len(checks) > 1:
            raise KeyboardInterrupt
        status = run(request)
        (project / "sub" / "late.py").write_text(FOUND)
        return status

    monkeypatch.setattr("rlint.cli.run.run", check_during_writes)
    monkeypatch.chdir(project)
    with pytest.raises(SystemExit) as end:
        main(["check", "--watch", "--output-format", "concise"])
    assert (end.value.code, len(checks)) == (130, 2)


def test_what_does_not_matter_causes_no_check(project: Path) -> None:
    """An editor's swap files, and new files elsewhere, do not start another check."""
    with in_terminal(COMMAND, project, environment("xterm")) as terminal:
        after(terminal)
        for name in (".agent.py.swp", "4913", "notes.txt"):
            (project / name).write_text("x")
            (project / name).unlink()
        (project / "agent.py").write_text("x = 1\n")
        assert after(terminal).count(WATCHING) == 1


def test_a_terminal_that_cannot_is_not_cleared(project: Path) -> None:
    """Nothing but text goes to a dumb terminal."""
    with in_terminal(COMMAND, project, environment("dumb")) as terminal:
        assert "\x1b" not in after(terminal)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-"], "standard input"),
        (["--fix"], "run `rlint fix` separately"),
        (["--diff"], "`--watch` and `--diff` exclude each other"),
        (["--add-noqa"], "`--watch` and `--add-noqa` exclude each other"),
    ],
)
def test_what_watching_is_not_for(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Options that write, or that read once, are refused with a reason."""
    with pytest.raises(SystemExit) as end:
        main(["check", "--watch", *options])
    assert end.value.code == 2
    assert said in capsys.readouterr().err
