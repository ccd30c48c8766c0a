"""`trust/projects.py`: a project's tests and trainings before and after fixing."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from fixture_folders import ROOT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are those of a POSIX shell")

SCRIPT = ROOT / "trust" / "projects.py"
PYTEST = "python -m pytest -q -p no:cacheprovider"
BUFFER = '''
"""A buffer whose fix takes nothing from what it does: a comment hides nothing, and goes."""


def rows(number):
    return list(range(number))  # rlint: ignore[RL101]


def never(number):
    return number  # rlint: ignore[RL101]
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A package in `src`, which no installation knows of, with two fixes, one of them in dead code."""
    folder = tmp_path / "project"
    (folder / "src" / "replay").mkdir(parents=True)
    (folder / "src" / "replay" / "__init__.py").write_text("")
    (folder / "src" / "replay" / "buffer.py").write_text(BUFFER)
    (folder / "tests").mkdir()
    return folder


def add_tests(project: Path, text: str) -> None:
    """Add a test file to the project."""
    (project / "tests" / "test_buffer.py").write_text(dedent(text))


def add_training(project: Path, text: str) -> str:
    """Give the project a training script; return the command that runs it."""
    (project / "train.py").write_text(dedent(text))
    return "python train.py"


def slow(*values: object) -> object:
    """A case that starts rlint and more."""
    return pytest.param(*values, marks=pytest.mark.slow)


def compare(project: Path, *options: str, status: int) -> tuple[str, dict[str, object]]:
    """Run the script on a project; return what it says, and its JSON."""
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    said = project.parent / "said.json"
    command = [sys.executable, SCRIPT, project, "--select", "RL101,RL900", "--json", said, *options]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before
    found = json.loads(said.read_text()) if said.exists() else {}
    return done.stdout + done.stderr, found


@pytest.mark.slow
def test_tests_that_a_fix_does_not_touch(project: Path) -> None:
    """Tests with the same result are equal; one of two fixed places ran."""
    add_tests(
        project,
        """
        from replay import buffer

        def test_rows():
            assert buffer.rows(2) == [0, 1]

        def test_that_fails_before_as_after():
            assert buffer.rows(1) == [1]
        """,
    )
    said, found = compare(project, "--tests", f"{PYTEST} tests", status=0)
    assert "verdict     the same" in said
    [suite] = found["tests"]
    assert (suite["before"], suite["same"]) == ({"passed": 1, "failed": 1}, 2)
    assert (suite["different"], suite["flaky"]) == ([], [])
    assert [(fix["path"], fix["line"], fix["executed"]) for fix in found["fixes"]] == [
        ("src/replay/buffer.py", 6, True),
        ("src/replay/buffer.py", 10, False),
    ]
    assert "not run   src/replay/buffer.py:10 RL900" in said


def test_a_training_that_stays_the_same(project: Path) -> None:
    """Output without times, and files, are compared; varying parts are omitted and named."""
    train = add_training(
        project,
        """
        import os
        import time
        from replay.buffer import rows

        print("return", sum(rows(5)))
        print(f"| time_elapsed | {time.time()} |")
        with open(os.path.join(os.environ["TRUST_OUT"], "weights.txt"), "w") as file:
            file.write(str(rows(7)))
        with open(os.path.join(os.environ["TRUST_OUT"], "when.txt"), "w") as file:
            file.write(str(time.time()))
        """,
    )
    said, found = compare(project, "--train", train, status=0)
    assert "identical to the bit" in said
    [training] = found["trainings"]
    assert training["identical"]
    assert (training["lines"], training["parts"], training["varying"]) == (2, 1, ["when.txt"])
    assert [fix["executed"] for fix in found["fixes"]] == [True, False]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "difference"), [("0.5", None), ("len(text)", "trained.pt: parameters[0][0][0]")]
)
def test_a_script_run_for_what_it_trains(project: Path, rate: str, difference: str | None) -> None:
    """`trust/trained.py` saves the weights of a script that saves none; a difference is named."""
    add_training(
        project,
        f"""
        from pathlib import Path

        import torch
        from replay import buffer

        def main():
            torch.manual_seed(0)
            text = Path(buffer.__file__).read_text()
            layer = torch.nn.Linear(3, 1)
            optimizer = torch.optim.SGD(layer.parameters(), {rate} * 1e-3)
            layer(torch.ones(3)).sum().backward()
            optimizer.step()

        main()
        """,
    )
    _, found = compare(
        project, "--train", 'python "$TRUST/trained.py" train.py', status=int(bool(difference))
    )
    [training] = found["trainings"]
    assert (training["difference"] or "").startswith(difference or "")
    assert (training["difference"] is None) == (difference is None)


@pytest.mark.slow
def test_what_a_fix_changes_is_shown_and_flaky_tests_are_distinguished(project: Path) -> None:
    """A test that reads the fixed text differs; one that alternates by itself is called flaky."""
    add_tests(
        project,
        f"""
        from pathlib import Path
        from replay import buffer

        def test_text():
            assert "ignore" in Path(buffer.__file__).read_text()

        def test_message():
            raise ValueError(Path(buffer.__file__).stat().st_size)

        def test_now_and_then():
            runs = Path({str(project.parent)!r}, "runs")
            runs.write_text((runs.read_text() if runs.exists() else "") + "x")
            assert len(runs.read_text()) % 2
        """,
    )
    train = add_training(
        project,
        """
        from pathlib import Path
        from replay import buffer

        print("return 1.0")
        print("size", len(Path(buffer.__file__).read_text()))
        """,
    )
    said, found = compare(project, "--tests", f"{PYTEST} tests", "--train", train, status=1)
    assert "verdict     DIFFERENT" in said
    [suite], [training] = found["tests"], found["trainings"]
    assert [each["test"] for each in suite["different"]] == [
        "tests.test_buffer::test_text",
        "tests.test_buffer::test_message",
    ]
    assert [each["after"]["ending"] for each in suite["different"]] == ["failed", "failed"]
    assert suite["flaky"] == ["tests.test_buffer::test_now_and_then"]
    assert [run["fixed"] for run in suite["runs"]] == [False, False, True, False, True]
    size = len(BUFFER)
    assert training["difference"].startswith(f"stdout:2: size {size} before, size ")
    assert not training["identical"]


def test_tests_of_an_installed_package_compare_nothing(project: Path) -> None:
    """A conftest that imports another copy of the package is detected: the fixes were not tested."""
    installed = project.parent / "installed"
    (project / "src").rename(installed)
    (project / "replay").mkdir()
    for name in ("__init__.py", "buffer.py"):
        (project / "replay" / name).write_bytes((installed / "replay" / name).read_bytes())
    (project / "conftest.py").write_text(f"import sys\nsys.path.insert(0, {str(installed)!r})\n")
    add_tests(project, "from replay import buffer\n\ndef test_rows():\n    assert buffer.rows(0) == []\n")
    said, _ = compare(project, "--tests", f"{PYTEST} tests", status=2)
    assert f"imported replay from {installed / 'replay' / '__init__.py'}, not the copy's own" in said


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], "nothing to compare: give `--tests COMMAND`"),
        slow(["--tests", "true"], "left no report of its tests"),
        slow(["--tests", "sleep 30", "--timeout", "0.2"], "did not end within 0.2 s"),
        slow(
            ["--train", "echo no such level >&2; exit 3"],
            "fails before fixing (exit code 3)\n  | no such level",
        ),
        slow(["--train", "true"], "wrote nothing to compare"),
        slow(["--train", "echo $$"], "is not seeded: all that it writes differs from run to run"),
        (["--python", "no-such-python", "--train", "true"], "no-such-python is no program"),
    ],
)
def test_what_cannot_be_compared(project: Path, options: list[str], expected: str) -> None:
    """It is reported in one line, and the exit status is 2."""
    said, _ = compare(project, *options, status=2)
    assert expected in said


@pytest.mark.slow
def test_where_a_package_would_be_imported_from_is_queried_first(project: Path, tmp_path: Path) -> None:
    """An interpreter that ignores PYTHONPATH would import another copy, so nothing is run."""
    stubborn = tmp_path / "stubborn" / "python"
    stubborn.parent.mkdir()
    (tmp_path / "installed" / "replay").mkdir(parents=True)
    (tmp_path / "installed" / "replay" / "__init__.py").write_text("")
    stubborn.write_text(
        f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(tmp_path / "installed"))} exec {sys.executable} "$@"\n'
    )
    stubborn.chmod(0o755)
    said, _ = compare(project, "--python", str(stubborn), "--tests", "touch /nowhere", status=2)
    assert "`import replay` in the copy" in said
    assert "finds " + str(tmp_path / "installed" / "replay" / "__init__.py") in said


@pytest.mark.parametrize("half", [b"", b"SQLite format 3\0", b"neither"])
def test_lines_that_a_killed_process_was_writing_are_passed_over(tmp_path: Path, half: bytes) -> None:
    """A project's tests may kill the workers that they started, at any point."""
    (tmp_path / "lines.host.pid1.x").write_bytes(half)
    script = SCRIPT.parent / "comparing" / "inside" / "executed_lines.py"
    said = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, check=True)
    assert json.loads(said.stdout) == {}
