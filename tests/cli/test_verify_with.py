"""`rlint fix --verify-with`: a user's command decides which fixes are applied."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from patience import PATIENCE, TimerUntil, soon
from rlint.trial.user_command import Ran, run_command

Run = Callable[..., Result]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are those of a POSIX shell")

FIXABLE = "".join(f"x{number} = {number}  # rlint: ignore[RL101]\n" for number in range(6))
FIXED = "".join(f"x{number} = {number}\n" for number in range(6))


@pytest.fixture
def tree(folder: Path) -> Path:
    """A folder with one file that has six fixable findings, one of them in each line."""
    for name in ("fixable.py", "unfixable.py", "clean.py"):
        (folder / name).unlink()
    (folder / "a.py").write_text(FIXABLE)
    return folder


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside of the tree."""
    return tmp_path_factory.mktemp("outside")


def fixes_are_refused(*numbers: int, file: str = "a.py") -> str:
    """A command that fails once all of these lines have been fixed."""
    tests = [f"! grep -q 'x{number} .*ignore' {file}" for number in numbers]
    return f"if {' && '.join(tests)}; then echo 'AssertionError: {list(numbers)}'; exit 3; fi"


def test_fixes_that_the_command_bears_are_applied(run: Run, tree: Path) -> None:
    """The command runs before and after, and the output says so."""
    done = run("fix", "--verify-with", "grep -q x5 a.py")
    assert done.exit_code == 0
    assert (tree / "a.py").read_text() == FIXED
    assert "`grep -q x5 a.py` passes before any fix" in done.stderr
    assert "passes with 6 fixes in 1 file" in done.stderr
    assert "Fixed 6 findings in a.py (6)." in done.stdout
    assert "tells nothing" not in done.stdout


def test_the_fix_at_fault_is_left_out_and_shown(run: Run, tree: Path) -> None:
    """The failing fix is shown with its place, the exit code and the output; the others are applied."""
    done = run("fix", "--verify-with", fixes_are_refused(3))
    assert done.exit_code == 1
    assert (tree / "a.py").read_text() == FIXED.replace("x3 = 3\n", "x3 = 3  # rlint: ignore[RL101]\n")
    left = done.stdout[done.stdout.index("Not applied") :].splitlines()
    assert left[0] == "Not applied, because the command fails with it:"
    assert left[1].startswith("  a.py:4:9: RL900 unused-suppression: ")
    assert left[2:4] == ["  exit code 3", "  | AssertionError: [3]"]
    assert "Left 1 finding: 1 with which the command fails." in done.stdout


def test_fixes_that_fail_only_together_are_found(run: Run, tree: Path) -> None:
    """Two independent faults, one of them of two fixes in two files."""
    (tree / "b.py").write_text(FIXABLE.replace("x", "y"))
    pair = "if ! grep -q 'x1 .*ignore' a.py && ! grep -q 'y4 .*ignore' b.py; then echo pair; exit 1; fi"
    done = run("fix", "--verify-with", f"{pair}; {fixes_are_refused(5)}")
    assert "a.py:2:9" in done.stdout.split("with them together:")[1]
    assert "b.py:5:9" in done.stdout.split("with them together:")[1]
    assert (tree / "a.py").read_text().count("ignore") == 2
    assert (tree / "b.py").read_text().count("ignore") == 1


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo broken >&2; exit 4", "fails before any fix (exit code 4); nothing was changed"),
        ("no-such-program-at-all", "fails before any fix (exit code 127)"),
        (
            'n=$(cat "$COUNTER"); echo $((n + 1)) > "$COUNTER"; test $((n % 2)) = 0',
            "is flaky: before any fix it passed once and failed once (exit code 1); nothing was changed",
        ),
    ],
)
def test_a_command_that_says_nothing_about_fixes_is_an_error(
    run: Run, tree: Path, outside: Path, command: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Failing and flaky commands: status 2, nothing is touched, the output is shown."""
    counter = outside / "counter"
    counter.write_text("0")
    monkeypatch.setenv("COUNTER", str(counter))
    done = run("fix", "--verify-with", command, "--verify-timeout", str(PATIENCE))
    assert done.exit_code == 2
    assert said in done.stderr
    assert "broken" in done.stderr or "echo" not in command[:4]
    assert (tree / "a.py").read_text() == FIXABLE


def test_a_command_without_end_is_an_error(run: Run, tree: Path) -> None:
    """It is killed after the time limit."""
    done = run("fix", "--verify-with", "sleep 9999", "--verify-timeout", "0.4")
    assert done.exit_code == 2
    assert "did not end within 0.4 s before any fix; nothing was changed" in done.stderr
    assert (tree / "a.py").read_text() == FIXABLE


def test_a_command_that_fails_at_times_is_noticed_after_fixing(
    run: Run, tree: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No fix is blamed for a failure that is not reproducible."""
    counter = outside / "counter"
    counter.write_text("0")
    monkeypatch.setenv("COUNTER", str(counter))
    command = 'n=$(cat "$COUNTER"); echo $((n + 1)) > "$COUNTER"; test $n != 2'
    done = run("fix", "--verify-with", command)
    assert done.exit_code == 2
    assert "is flaky: with the same fixes it passed once and failed once" in done.stderr
    assert (tree / "a.py").read_text() == FIXABLE


def test_a_fix_that_makes_the_command_hang_is_left_out(
    run: Run, tree: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exceeding the time limit counts as a failure; in this test it expires once the command hangs."""
    (tree / "a.py").write_text("x0 = 0  # rlint: ignore[RL101]\n")
    hangs = outside / "hangs"

    def timer(_seconds: float, function: Callable[[], None]) -> TimerUntil:
        def end() -> None:
            hangs.unlink()  # the next command has not hung; its timer may be created after its start
            function()

        return TimerUntil(end, hangs.exists)

    monkeypatch.setattr("threading.Timer", timer)
    monkeypatch.setenv("HANGS", str(hangs))
    command = 'grep -q ignore a.py || { touch "$HANGS"; sleep 9999; }'
    done = run("fix", "--verify-with", command, "--verify-timeout", "10")
    assert "did not end within" in done.stdout
    assert "ignore" in (tree / "a.py").read_text()


def test_the_tree_is_not_touched_before_the_end(
    run: Run, tree: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that the command writes stay in the copy; while it runs, the user's files are unchanged."""
    log = outside / "log"
    monkeypatch.setenv("TREE", str(tree))
    monkeypatch.setenv("LOG", str(log))
    done = run("fix", "--verify-with", 'cat "$TREE/a.py" >> "$LOG"; test ! -e made; touch made; echo >> a.py')
    assert done.exit_code == 0
    assert set(log.read_text().splitlines()) == set(FIXABLE.splitlines())
    assert sorted(path.name for path in tree.iterdir()) == ["a.py", "rlint.toml"]
    assert (tree / "a.py").read_text() == FIXED


def test_a_file_that_was_edited_meanwhile_is_not_overwritten(
    run: Run, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is edited during the run keeps its text, and the others are fixed."""
    (tree / "b.py").write_text(FIXABLE)
    monkeypatch.setenv("TREE", str(tree))
    done = run("fix", "--verify-with", 'echo "# edited" >> "$TREE/a.py"')
    assert done.exit_code == 1
    assert "a.py: not written: the file changed on disk since it was read" in done.stderr
    assert "edited" in (tree / "a.py").read_text()
    assert "6 in files that could not be written" in done.stdout
    assert (tree / "b.py").read_text() == FIXED


def test_fixes_that_slow_the_command_down_are_left_out(
    run: Run, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--require-faster times the command with and without; fixes that make it slower are not applied.

    The command runs with simulated times, because real ones vary on a busy machine.
    """
    (tree / "a.py").write_text("x0 = 0  # rlint: ignore[RL101]\nx1 = 1  # rlint: ignore[RL101]\n")

    def clocked(command: str, folder: Path, *rest: Any, **named: Any) -> Ran:
        slow = "1 = 1\n" in (folder / "a.py").read_text()
        return replace(run_command(command, folder, *rest, **named), seconds=0.5 if slow else 0.2)

    monkeypatch.setattr("rlint.trial.trial.run_command", clocked)
    done = run("fix", "--verify-with", "true", "--require-faster", "--output-format", "json")
    report = json.loads(done.stdout)
    (left,) = report["verification"]["left_out"]
    assert left["why"] == "slower"
    assert [fix["location"]["row"] for fix in left["fixes"]] == [2]
    assert left["speed"]["ratio"] > 1.5
    assert report["left"][0]["why"] == "verification-slower"
    assert report["verification"]["speed"]["slower"] is False
    assert (tree / "a.py").read_text() == "x0 = 0\nx1 = 1  # rlint: ignore[RL101]\n"


def test_machines_read_what_was_left_out(run: Run, tree: Path) -> None:
    """JSON has the command, its runs, and for each group of fixes the run that failed."""
    done = run("fix", "--verify-with", fixes_are_refused(2), "--output-format", "json")
    report = json.loads(done.stdout)
    verification = report["verification"]
    assert [ran["exit_code"] for ran in verification["before"]] == [0, 0]
    assert verification["after"]["exit_code"] == 0
    assert verification["left_out"][0]["run"]["output"] == "AssertionError: [2]"
    assert verification["left_out"][0]["run"]["exit_code"] == 3
    assert len(report["fixed"]) == 5
    assert [(each["why"], each["detail"]) for each in report["left"]] == [
        ("verification-failed", "exit code 3")
    ]
    assert report["files"] == [{"filename": str(tree / "a.py"), "fixes": 5, "written": True, "problem": None}]


def test_a_command_that_does_not_read_the_files_is_reported(run: Run, tree: Path) -> None:
    """`true` passes whatever a fix does; the output warns that this proves nothing."""
    done = run("fix", "--verify-with", "true")
    assert "so it does not test them" in done.stdout
    assert (tree / "a.py").read_text() == FIXED


def test_diff_shows_what_the_command_bears(run: Run, tree: Path) -> None:
    """With --diff, nothing is written."""
    done = run("fix", "--diff", "--verify-with", fixes_are_refused(3))
    assert done.stdout.count("\n+x") == 5
    assert "\n-x3" not in done.stdout
    assert (tree / "a.py").read_text() == FIXABLE


def test_the_output_of_the_command_cannot_take_over_the_terminal(run: Run, tree: Path) -> None:
    """Escape sequences in it are escaped."""
    done = run("fix", "--verify-with", r"printf '\033]0;owned\007'; grep -q ignore a.py")
    assert r"  | \x1b]0;owned\x07" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("--require-faster",),
        ("--verify-timeout", "3"),
        ("--verify-with", " "),
        ("--verify-with", "true", "-"),
        ("--verify-with", "true", "--verify-timeout", "0"),
    ],
)
def test_options_that_make_no_sense(run: Run, tree: Path, arguments: tuple[str, ...]) -> None:
    """Usage errors, before anything is done."""
    assert run("fix", *arguments, stdin=b"").exit_code == 2
    assert (tree / "a.py").read_text() == FIXABLE


def test_configuration_cannot_name_a_command(run: Run, tree: Path) -> None:
    """Code in a checked-out repository's configuration is never run."""
    (tree / "rlint.toml").write_text('verify-with = "touch owned"\n')
    done = run("fix")
    assert done.exit_code == 2
    assert "unknown key `verify-with`" in done.stderr
    assert not (tree / "owned").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupt_leaves_everything_as_it_was(tree: Path, outside: Path, number: signal.Signals) -> None:
    """Ctrl-C and kill end the command, delete the copy, and change no file."""
    temporary = outside / "temporary"
    temporary.mkdir()
    beat = outside / "beat"
    script = (
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from rlint.cli import main\nmain()\n"
    )
    command = f"while :; do echo >> {beat}; sleep 0.05; done"
    with subprocess.Popen(
        [sys.executable, "-c", script, "fix", "--verify-with", command],
        cwd=tree,
        env={**os.environ, "TMPDIR": str(temporary)},
        stderr=subprocess.DEVNULL,
    ) as process:
        assert soon(beat.exists)
        process.send_signal(number)
        code = process.wait(PATIENCE)
    assert code == (130 if number is signal.SIGINT else -number)
    assert soon(lambda: not list(temporary.iterdir()))
    assert soon(lambda: beats(beat) == 0)
    assert (tree / "a.py").read_text() == FIXABLE
    assert tempfile.gettempdir() != str(temporary)


def beats(file: Path) -> int:
    """How often the command writes within half a second."""
    before = file.stat().st_size
    time.sleep(0.5)
    return file.stat().st_size - before
