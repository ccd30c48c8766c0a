"""Output on a terminal: colours, progress, and shell completion."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fixture_folders import ROOT
from pseudo_terminal import in_terminal
from rlint.cli.terminals import wants_color

SOON = "import rlint.cli.working as working; working._AFTER = working._EVERY = 0.02; "
START = "from rlint.cli import main; main()"
PROGRAM = "x = 1  # rlint: ignore[RL999]\n"
CHECK = ["check", "--isolated", "--no-cache", "--select", "RL901", "--output-format", "concise", "."]


def environment(**more: str) -> dict[str, str]:
    """The environment of the tests, without variables about colours."""
    asking = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE")
    kept = {key: value for key, value in os.environ.items() if key not in asking}
    return {**kept, "TERM": "xterm", "PYTHONPATH": str(ROOT), **more}


class Screen(io.StringIO):
    """Text that is shown."""

    def isatty(self) -> bool:
        """Pretend that the output is a terminal."""
        return True


@pytest.mark.parametrize(
    ("variables", "terminal", "pipe"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ({"CLICOLOR_FORCE": "1"}, True, True),
        ({"CLICOLOR": "0"}, False, False),
        ({"CLICOLOR": "1"}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"TERM": "dumb", "FORCE_COLOR": "3"}, True, True),
    ],
)
def test_colours_are_for_those_who_want_them(
    variables: dict[str, str], terminal: bool, pipe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The conventions for colours apply on a terminal and in a pipe; `--color` overrides them."""
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert wants_color("auto", stream=Screen()) == terminal
    assert wants_color("auto", stream=io.StringIO()) == pipe
    assert wants_color("always", stream=io.StringIO())
    assert not wants_color("never", stream=Screen())
    assert not wants_color("auto", to_file=True, stream=Screen())


def test_a_report_on_a_terminal_and_in_a_pipe(tmp_path: Path) -> None:
    """Long work shows the elapsed time on a terminal and erases it; a pipe gets only the report."""
    for number in range(40):
        (tmp_path / f"x{number}.py").write_text(PROGRAM)
    command = [sys.executable, "-c", SOON + START, *CHECK]
    with in_terminal(command, tmp_path, environment()) as terminal:
        status, shown = terminal.end()
    before, line, report = shown.rpartition("\r\x1b[K")
    assert (status, line) == (1, "\r\x1b[K")
    assert "\rchecking 40 files: 0 s" in before
    assert "\x1b[1;31mRL901\x1b[0m" in report
    assert "checking" not in report
    piped = subprocess.run(
        command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert (piped.returncode, piped.stderr) == (1, "")
    assert "\x1b" not in piped.stdout
    assert len(piped.stdout.splitlines()) == 41
    for options, variables in (["--quiet"], {}), ([], {"TERM": "dumb"}):
        with in_terminal([*command, *options], tmp_path, environment(**variables)) as terminal:
            assert "checking" not in terminal.end()[1]


def test_the_report_alone_in_a_file_while_the_terminal_shows_progress(tmp_path: Path) -> None:
    """`rlint check > report` keeps the line about progress on the terminal, and the report without it."""
    for number in range(40):
        (tmp_path / f"x{number}.py").write_text(PROGRAM)
    with (tmp_path / "report").open("wb") as report:
        command = [sys.executable, "-c", SOON + START, *CHECK]
        with in_terminal(command, tmp_path, environment(), stdout=report.fileno()) as terminal:
            _, shown = terminal.end()
    assert "\rchecking 40 files" in shown
    text = (tmp_path / "report").read_text()
    assert len(text.splitlines()) == 41
    assert "\x1b" not in text


# --- completion ---


def offered(words: str, position: int, folder: Path, shell: str = "bash") -> list[str]:
    """The completions for the word at a position."""
    done = subprocess.run(
        [sys.executable, "-c", START],
        cwd=folder,
        env=environment(_RLINT_COMPLETE=f"{shell}_complete", COMP_WORDS=words, COMP_CWORD=str(position)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "position", "expected"),
    [
        ("rlint ch", 1, {"check"}),
        ("rlint check --sel", 2, {"--select"}),
        ("rlint check --color al", 3, {"always"}),
        ("rlint check --select RL10", 3, {f"RL10{n}" for n in range(1, 10)}),
        ("rlint check --select RL101,RL20", 3, {f"RL101,RL20{n}" for n in range(1, 10)}),
        ("rlint check --ignore busy", 3, {"busy-wait-sleep"}),
        ("rlint check --select rl9", 3, {"RL9", "RL900", "RL901"}),
        ("rlint rule RL90", 2, {"RL900", "RL901"}),
        ("rlint completion z", 2, {"zsh"}),
    ],
)
def test_words_are_completed(words: str, position: int, expected: set[str], tmp_path: Path) -> None:
    """Commands, options, their values, and rules by code, family and name, also after a comma."""
    assert set(offered(words, position, tmp_path)) == expected


def test_a_broken_configuration_does_not_disturb_a_shell(tmp_path: Path) -> None:
    """Completion reports no errors, and offers what it can."""
    (tmp_path / "rlint.toml").write_text("this = is not TOML")
    assert set(offered("rlint rule RL90", 2, tmp_path)) == {"RL900", "RL901"}


DRIVERS = {
    "bash": 'eval "$(rlint completion bash)"; COMP_WORDS=(rlint rule RL90); COMP_CWORD=2; '
    '_rlint_completion rlint; echo "${COMPREPLY[@]}"',
    "zsh": 'autoload -U compinit; compinit -u -D; compdef() { }; eval "$(rlint completion zsh)"; '
    "compadd() { :; }; _describe() { print -l ${(P)3} ${(P)5} }; words=(rlint rule RL90); CURRENT=3; "
    "_rlint_completion",
    "fish": "rlint completion fish | source; complete --do-complete 'rlint rule RL90'",
}


@pytest.mark.parametrize("shell", DRIVERS)
def test_the_script_works_in_a_real_shell(shell: str, tmp_path: Path) -> None:
    """A real shell sources the output of `rlint completion`, and requests completions from rlint."""
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not here")
    program = tmp_path / "rlint"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m rlint "$@"\n')
    program.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [found, "-c", DRIVERS[shell]],
        cwd=tmp_path,
        env=environment(PATH=path, HOME=str(tmp_path)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "RL900" in done.stdout, done.stdout + done.stderr
    assert "RL901" in done.stdout
