"""Which files `rlint check` opens, and how often."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from fixture_folders import FIXTURES, ROOT

SCRIPT = """
import json, os, sys
opened = []

def note(event, arguments):
    # `open` with an opener is two events: the second, of the system's call, has no mode
    if event == "open" and isinstance(arguments[0], (str, bytes)) and arguments[1] is not None:
        opened.append(os.path.realpath(os.fsdecode(arguments[0])))

sys.addaudithook(note)
from rlint.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert end.code in (0, 1), end.code
print("opened:" + json.dumps(opened))
"""


def opened(folder: Path, *arguments: str) -> Counter[Path]:
    """How often each file is opened by `rlint check -j 1` in a folder."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "check", "--isolated", "-j", "1", *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "HOME": str(folder / "home"), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    output, _, said = done.stdout.rpartition("opened:")
    if "--show-files" not in arguments:
        assert "RL401" in output
    return Counter(map(Path, json.loads(said)))


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program with a finding, in a project of its own."""
    (tmp_path / "pyproject.toml").touch()
    path = tmp_path / "program.py"
    path.write_bytes((FIXTURES / "busy-wait-sleep" / "before.py").read_bytes())
    return path.resolve()


def of_rules(seen: Counter[Path]) -> list[Path]:
    """The files of rules and of their evidence."""
    places = (ROOT / "rules", FIXTURES)
    return [path for path in seen if any(place in path.parents for place in places)]


def test_a_file_is_opened_once(program: Path) -> None:
    """With or without the cache, and cached or not, the source is read once."""
    folder = program.parent
    assert opened(folder, "--no-cache", program.name)[program] == 1
    assert opened(folder, program.name)[program] == 1
    assert opened(folder, program.name)[program] == 1


def test_a_known_file_needs_no_rule(program: Path) -> None:
    """Cached results are shown without reading any rule or evidence."""
    opened(program.parent, program.name)
    assert of_rules(opened(program.parent, program.name)) == []


def test_selecting_rules_opens_none(program: Path) -> None:
    """The rules and their defaults are known without reading sources or evidence."""
    assert of_rules(opened(program.parent, "--select", "ALL", "--show-files", program.name)) == []
