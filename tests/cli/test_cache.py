"""Cached results are never wrong, whatever happens to the files that contain them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rlint

ROOT = Path(rlint.__file__).resolve().parents[1]
LIBRARY = """import re


def parse(text):
    return re.search(r"(\\d+) points", text)
"""
SCRIPT = """from library import parse


def main(texts, env):
    for text in texts:
        obs, done = env.reset(), False
        while not done:
            obs, reward, done, info = env.step(parse(text))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two files that depend on each other, and an unrelated one."""
    for name, text in {"library.py": LIBRARY, "script.py": SCRIPT, "other.py": LIBRARY}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "rlint.toml").write_text('select = ["RL5"]\n')
    return tmp_path


def check(folder: Path, *arguments: str, **environment: str) -> str:
    """What `rlint check` prints; nothing goes to standard error."""
    process = start(folder, *arguments, **environment)
    output, errors = process.communicate()
    assert errors == ""
    return output


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start `rlint check`."""
    return subprocess.Popen(
        [sys.executable, "-m", "rlint", "check", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kept(folder: Path) -> list[Path]:
    """All files in the cache."""
    files = folder.glob(".rlint_cache/*/*.*")
    return sorted(path for path in files if path.suffix in (".json", ".summary"))


def groups(folder: Path) -> set[str]:
    """The keys of cached results."""
    (path,) = folder.glob(".rlint_cache/*/run-*.json")
    return set(json.loads(path.read_bytes().partition(b"\n")[2]))


def test_a_second_run_says_the_same_without_reading_trees(project: Path) -> None:
    """Unchanged files are not parsed, and the parser is not imported."""
    first = check(project)
    assert "library.py:5" in first
    assert "script.py" in first  # why the line is hot
    assert len(groups(project)) == 2
    assert check(project) == first
    program = (
        "import sys\nfrom rlint.cli import main\n"
        "try:\n    main(['check'])\nfinally:\n    print('rlint.engine.worker' in sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1] == "False"


def test_a_change_is_noticed_in_all_files_that_know_of_it(project: Path) -> None:
    """The callee is no longer hot once the caller does not call it; the unrelated file is not checked
    again.
    """
    first = check(project)
    before = groups(project)
    (project / "script.py").write_text(SCRIPT.replace("parse(text)", "0"))
    second = check(project)
    assert second == check(project, "--no-cache") != first
    assert len(groups(project) - before) == 1
    (project / "script.py").write_text(SCRIPT)
    assert check(project) == first


def test_other_rules_are_another_result(project: Path) -> None:
    """The results depend on the selected rules of each file."""
    first = check(project)
    assert "RL502" not in check(project, "--ignore", "RL502")
    assert "library.py" not in check(project, "--per-file-ignores", "library.py:RL502").replace(
        "script.py", ""
    )
    assert check(project) == first


def test_suppressions_that_are_ignored_are_another_result(project: Path) -> None:
    """`--ignore-noqa` does not change what is said without it."""
    (project / "library.py").write_text(LIBRARY.replace("text)\n", "text)  # noqa: RL502\n"))
    first = check(project)
    assert "library.py:5" not in first
    assert "library.py:5" in check(project, "--ignore-noqa")
    assert check(project) == first


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-20]),
        lambda path: path.write_bytes(path.read_bytes().replace(b"RL502", b"RL503")),
        lambda path: path.write_bytes(b"\x80\x04\x95 no pickle"),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["empty", "cut-off", "changed", "foreign", "folder"],
)
def test_damaged_results_count_as_none(project: Path, damage: object) -> None:
    """The results are computed again, without a message."""
    first = check(project)
    for path in kept(project):
        damage(path)  # type: ignore[operator]
    assert check(project) == first


def test_a_folder_that_cannot_be_written_is_no_error(project: Path) -> None:
    """A cache is a help; without it, rlint is slower."""
    (project / ".rlint_cache").write_text("a file is in the way\n")
    assert check(project) == check(project)


def test_runs_at_the_same_time_get_along(project: Path) -> None:
    """Concurrent runs report the same, and leave a valid cache."""
    processes = [start(project) for _ in range(4)]
    reports = {process.communicate() for process in processes}
    assert len(reports) == 1
    assert (check(project), "") in reports
    assert not list(project.glob(".rlint_cache/*/*.tmp"))


def test_where_results_are_kept(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The cache is next to the configuration, in the configured folder, or disabled; git ignores it."""
    check(project, "--no-cache")
    assert not (project / ".rlint_cache").exists()
    check(project)
    assert (project / ".rlint_cache" / ".gitignore").read_text() == "*\n"
    assert (project / ".rlint_cache" / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172")
    given = tmp_path_factory.mktemp("given")
    check(project, "--cache-dir", str(given / "a"))
    check(project, RLINT_CACHE_DIR=str(given / "b"))
    (project / "rlint.toml").write_text('select = ["RL5"]\ncache-dir = "kept/here"\n')
    check(project)
    assert all(path.is_dir() for path in (given / "a", given / "b", project / "kept" / "here"))


def test_old_results_go(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results of other versions are deleted at once, and the oldest half if there are too many."""
    from rlint.engine.cache import store

    folder = project / ".rlint_cache"
    (folder / "0.0.1").mkdir(parents=True)
    (folder / "0.0.1" / "x.json").write_text("old")
    check(project)
    assert [path.name for path in folder.iterdir() if path.is_dir()] == [rlint.__version__]
    monkeypatch.setattr(store, "MOST_FILES", 10)
    for number in range(20):
        path = folder / rlint.__version__ / f"{number:02}.json"
        path.write_text("{}")
        os.utime(path, (number, number))
    store.Cache(folder).tidy()
    left = sorted(path.name for path in kept(project) if path.suffix == ".json")
    assert len(left) == 5
    assert "19.json" in left
