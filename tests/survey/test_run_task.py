"""Tasks as run by nodes: the findings of `rlint check`, within limits, and only for changed content."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fsspec")
pytest.importorskip("psutil")

from small_repositories import BROKEN, CLEAN, GROWS, MOVES, as_printed, checked, commit, make, options, remote

from rlint.survey import guarded
from rlint.survey.executors import InProcess
from rlint.survey.repository_list import SurveyedRepository, listed
from rlint.survey.result_store import ResultStore
from rlint.survey.run_shard import entries_of
from rlint.survey.run_task import run_task
from rlint.survey.survey_run import SurveyedResult, survey
from rlint.survey.task_data import CHECKED, KEPT, UNFIT, SurveyOptions, SurveyTask

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="tasks fork"),
    pytest.mark.xdist_group("survey"),
]

LARGE = "".join(
    f"def f{number}(a, b):\n    return [a + {number}, b * a, (a, b)]\n" for number in range(9_000)
)


@pytest.fixture(scope="module", autouse=True)
def ended() -> Iterator[None]:
    """All tests share one guard, which ends after them. Its ssh hangs."""
    guarded.restart()
    os.environ["GIT_SSH_COMMAND"] = "sleep 1000; false"
    yield
    del os.environ["GIT_SSH_COMMAND"]
    guarded.restart()


def done(repository: SurveyedRepository, queried: SurveyOptions) -> SurveyedResult:
    """Survey one repository, in this process."""
    [result] = survey([repository], queried, InProcess())
    return result


def test_it_finds_what_check_finds(tmp_path: Path) -> None:
    """The findings are equal byte for byte, whole and in parts; a second run checks nothing."""
    top = make(tmp_path, 3, (GROWS, MOVES, CLEAN, BROKEN))
    (top / "nowhere.py").symlink_to("gone.py")
    (top / "a folder").mkdir()
    (top / "a folder" / "é.py").write_text(GROWS.replace("{number}", "9"), encoding="utf-8")
    [repository] = listed([str(top)], [])
    store = ResultStore(str(tmp_path / "store"))
    expected = checked(top, "--isolated")
    assert expected.count('"RL') >= 3
    for size in (4_000_000, 600):
        queried = options(tmp_path / "store", part_size=size)
        first, second = done(repository, queried), done(repository, queried)
        assert as_printed(store, first) == expected
        assert (len(first.results) > 1) == (size == 600)
        assert (first.kept, second.kept) == (False, True)
        assert second.results == first.results
    assert not (top / ".rlint_cache").exists()


def test_only_what_changed_is_checked_again(tmp_path: Path) -> None:
    """Files unaffected by a change keep their results, on any node."""
    top = make(tmp_path, 3)
    [repository] = listed([str(top)], [])
    queried = options(tmp_path / "store")
    done(repository, queried)
    (top / "module_2.py").write_text(MOVES.replace("{number}", "77"), encoding="utf-8")
    again = done(repository, queried)
    assert (again.kept, again.reused) == (False, 2)
    assert again.results == done(repository, options(tmp_path / "other")).results


def test_a_remote_repository(tmp_path: Path) -> None:
    """The findings of a URL are those of a folder; an unchanged commit is not fetched again."""
    top = make(tmp_path, 5)
    queried = options(tmp_path / "store")
    first_commit = commit(top)
    result = done(remote(top), queried)
    store = ResultStore(queried.store)
    entries, files, _ = entries_of(store, result.results)
    folder = done(listed([str(top)], [])[0], queried)
    assert (entries, files, result.commit) == (entries_of(store, folder.results)[0], 3, first_commit)
    assert done(remote(top, first_commit), queried).kept
    objects = top / ".git" / "objects"
    objects.rename(top / "away")  # cached results of the commit need no fetch
    assert done(remote(top, first_commit), queried).results == result.results
    assert "git" in done(remote(top, "0" * 40), queried).reason


def test_what_hangs_or_takes_too_much_memory_is_given_up(tmp_path: Path) -> None:
    """The limits of a task apply to git, too; the next task is run."""
    hanging = SurveyedRepository("ssh://host/r", "ssh://host/r", "", is_remote=True)
    large = make(tmp_path, 1, (LARGE,))
    queried = options(tmp_path / "store", time_limit=0.5)
    assert done(hanging, queried).reason == "took more than 0.5 s"
    [repository] = listed([str(large)], [])
    little = options(tmp_path / "store", memory_limit=100 * 2**20)
    assert done(repository, little).reason == "used more than 100 MB of memory"
    assert done(listed([str(make(tmp_path, 2))], [])[0], options(tmp_path / "store")).reason == ""


def test_settings_of_unknown_origin(tmp_path: Path) -> None:
    """Configuration applies only on request, and never loads plugins or accesses other files."""
    top = make(tmp_path, 7)
    text = '[tool.rlint]\nignore = ["RL101"]\nfix = true\nunsafe-fixes = true\nplugins = ["strange"]\n'
    (top / "pyproject.toml").write_text(text, encoding="utf-8")
    before = {path: path.read_bytes() for path in top.iterdir()}
    [repository] = listed([str(top)], [])
    store = ResultStore(str(tmp_path / "store"))
    codes = []
    for configured in (False, True):
        result = done(repository, options(tmp_path / "store", configured=configured))
        entries, _, _ = entries_of(store, result.results)
        codes.append([entry["code"] for entry in entries])
    assert codes == [["RL101", "RL205"], ["RL205", None]]
    assert entries[-1]["message"] == "plugin `strange` is not loaded here, its rules are skipped"
    assert {path: path.read_bytes() for path in top.iterdir()} == before


def test_settings_of_the_survey(tmp_path: Path) -> None:
    """They are those of `rlint check`."""
    top = make(tmp_path, 7)
    queried = options(tmp_path / "store", overrides={"select": ["RL2"], "min-impact": "low"})
    entries, _, _ = entries_of(ResultStore(queried.store), done(listed([str(top)], [])[0], queried).results)
    assert [(entry["code"], entry["impact"]["level"]) for entry in entries] == [("RL205", "low")]


def test_what_cannot_be_checked(tmp_path: Path) -> None:
    """A folder that is not there, a broken configuration, a store that cannot be written."""
    queried = options(tmp_path / "store", configured=True)
    removed = SurveyedRepository(str(tmp_path / "gone"), str(tmp_path / "gone"))
    assert "no such folder" in done(removed, queried).reason
    top = make(tmp_path, 1)
    (top / "rlint.toml").write_text("selct = 1\n")
    assert "selct" in done(listed([str(top)], [])[0], queried).reason
    (tmp_path / "file").write_text("")
    assert "cannot be" in run_task(SurveyTask(0, removed), options(tmp_path / "file" / "store")).reason


def test_another_rlint_is_not_mixed_in(tmp_path: Path) -> None:
    """A node with another version does nothing."""
    task = SurveyTask(0, SurveyedRepository("a", "a"))
    outcome = run_task(task, SurveyOptions(str(tmp_path), "another"))
    assert outcome.status == UNFIT


@pytest.mark.slow
def test_a_guard_that_has_ended_is_replaced(tmp_path: Path) -> None:
    """A process that the system kills is restarted, and the task continues."""
    top = make(tmp_path, 1)
    [repository] = listed([str(top)], [])
    queried = options(tmp_path / "store")
    assert run_task(SurveyTask(0, repository), queried).status == CHECKED
    guarded.guard().kill()
    assert run_task(SurveyTask(0, repository), queried).status == KEPT
