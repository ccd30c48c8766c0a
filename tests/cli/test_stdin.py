from __future__ import annotations

import codecs
import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Run = Callable[..., Result]
FIXABLE = b"x = 1  # rlint: ignore[RL101]\r\n"


def test_a_program_on_standard_input_is_checked(run: Run) -> None:
    """`rlint check -` reads the program; --stdin-filename gives it a name, whose settings apply."""
    found = run("check", "-", "--output-format", "concise", stdin=FIXABLE)
    assert (found.exit_code, found.stdout.startswith("-:1:8: RL900")) == (1, True)
    found = run("check", "--stdin-filename", "pkg/new.py", "-", "--output-format=concise", stdin=FIXABLE)
    assert found.stdout.startswith("pkg/new.py:1:8: RL900")
    ignored = run("check", "--stdin-filename", "new.py", "--per-file-ignores", "new.py:RL9", stdin=FIXABLE)
    assert ignored.exit_code == 0


def test_fixing_standard_input_prints_the_program(run: Run, folder: Path) -> None:
    """An editor gets the fixed text on standard output, byte for byte, and the rest on standard error."""
    mark = codecs.BOM_UTF8
    program = mark + FIXABLE + b"y = '\xc3\xa9'  # rlint: ignore[RL999]"
    done = run("fix", "-", stdin=program)
    assert done.stdout_bytes == mark + b"x = 1\r\ny = '\xc3\xa9'  # rlint: ignore[RL999]"
    assert done.exit_code == 1
    assert "RL901" in done.stderr
    assert run("fix", "-", stdin=b"z = 3").stdout_bytes == b"z = 3"
    assert "ignore" in (folder / "fixable.py").read_text()


def test_a_program_that_cannot_be_read_comes_back_unchanged(run: Run) -> None:
    """An editor never loses its text."""
    for broken in (b"x = (\r\n", b"x = '\xe9'\n", b"\0"):
        done = run("fix", "-", stdin=broken)
        assert (done.exit_code, done.stdout_bytes) == (2, broken)
        assert done.stderr


def test_diff_of_standard_input(run: Run) -> None:
    """--diff shows what would change in the program."""
    shown = run("check", "--diff", "--stdin-filename", "new.py", "-", stdin=FIXABLE)
    assert shown.exit_code == 1
    assert "+x = 1" in shown.stdout


def test_an_excluded_name_is_left_alone(run: Run) -> None:
    """With --force-exclude, what an editor sends from an excluded file comes back as it was."""
    options = ["--stdin-filename", "build/x.py", "--force-exclude"]
    assert run("check", *options, stdin=FIXABLE).exit_code == 0
    assert run("fix", *options, stdin=FIXABLE).stdout_bytes == FIXABLE


def test_json_of_standard_input(run: Run, folder: Path) -> None:
    """JSON names the file that the program belongs to."""
    found = run("check", "--stdin-filename", "new.py", "--output-format=json", "-", stdin=FIXABLE)
    assert json.loads(found.stdout)[0]["filename"] == str(folder / "new.py")
