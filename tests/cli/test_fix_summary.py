"""The summary of `rlint fix`: what was fixed and what remains."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

UNSAFE = """\
class Agent:
    def learn(self, batch):
        self.target.load_state_dict({k: v.clone() for k, v in self.net.state_dict().items()})
"""


@pytest.fixture
def mixed(folder: Path) -> Path:
    """Findings of every kind: safe, unsafe, without a fix, suppressed, and in a read-only file."""
    (folder / "agent.py").write_text(UNSAFE)
    (folder / "hidden.py").write_text(UNSAFE.replace("items()})", "items()})  # noqa: RL305"))
    (folder / "locked.py").write_text("x = 1  # rlint: ignore[RL101]\n")
    (folder / "locked.py").chmod(0o444)
    (folder / "broken.py").write_text("def f(:\n")
    return folder


def test_the_summary_says_what_was_done_and_why_the_rest_was_left(run: Run, mixed: Path) -> None:
    """One line for the files, one for the reasons."""
    done = run("fix")
    assert done.exit_code == 1
    assert "Found 4 findings (1 fixed, 3 remaining).\nFound 2 errors.\n" in done.stdout
    assert "Fixed 1 finding in fixable.py (1).\n" in done.stdout
    assert done.stdout.endswith(
        "Left 3 findings: 1 without an automatic fix, 1 with an unsafe fix (`--unsafe-fixes`),"
        " 1 in files that could not be written.\nSkipped 1 finding: 1 suppressed by comments.\n"
    )
    assert "locked.py: not written: the file is read-only" in done.stderr
    assert "Left" not in run("fix", "--quiet").stdout
    assert "Left" not in run("check").stdout


def test_machines_read_the_same(run: Run, mixed: Path) -> None:
    """An object with the fixed and remaining findings, the written files and the errors."""
    report = json.loads(run("fix", "--output-format", "json").stdout)
    assert [(Path(each["filename"]).name, each["code"]) for each in report["fixed"]] == [
        ("fixable.py", "RL900")
    ]
    assert report["fixed"][0]["location"] == {"row": 1, "column": 8}
    assert report["fixed"][0]["fix"]["applicability"] == "safe"
    left = {Path(each["filename"]).name: each for each in report["left"]}
    assert {name: each["why"] for name, each in left.items()} == {
        "agent.py": "unsafe",
        "hidden.py": "suppressed",
        "locked.py": "not-written",
        "unfixable.py": "no-fix",
    }
    assert left["locked.py"]["detail"] == "not written: the file is read-only"
    assert left["agent.py"]["detail"] == left["agent.py"]["fix"]["reason"]
    assert [(Path(file["filename"]).name, file["written"]) for file in report["files"]] == [
        ("fixable.py", True),
        ("locked.py", False),
    ]
    assert {Path(each["filename"]).name for each in report["errors"]} == {"broken.py", "locked.py"}
    assert report["verification"] is None
    assert "RL105" in report["not_selected"]
    assert "RL900" not in report["not_selected"]


def test_check_keeps_its_list(run: Run, mixed: Path) -> None:
    """`rlint check --fix` prints the list that other tools read."""
    assert isinstance(json.loads(run("check", "--fix", "--output-format", "json").stdout), list)


def test_nothing_to_fix(run: Run, folder: Path) -> None:
    """A file without findings gives no summary, and an empty JSON object."""
    assert run("fix", "clean.py").stdout == "All checks passed!\n"
    report = json.loads(run("fix", "clean.py", "--output-format", "json").stdout)
    assert (report["fixed"], report["left"], report["files"]) == ([], [], [])
