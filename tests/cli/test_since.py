"""Only changed lines count, in real repositories."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

CLONED = "    {0}.load_state_dict({{k: v.clone() for k, v in b.state_dict().items()}})\n"
NETWORKS = "a, b, c = nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2)"
HEAD = f"from torch import nn\n{NETWORKS}\n\ndef copy() -> None:\n"
OLD = HEAD + CLONED.format("a")
NEW = OLD + CLONED.format("c")


@pytest.fixture
def repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a commit that has a finding on line 5 of `nets.py`."""
    for name in ("fixable.py", "unfixable.py", "clean.py"):
        (folder / name).unlink()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "somebody")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "somebody@example.org")
    (folder / "rlint.toml").write_text('select = ["RL305"]\n')
    (folder / ".gitignore").write_text(".rlint_cache\n")
    (folder / "nets.py").write_text(OLD)
    git("init", "-q", "-b", "main")
    commit("first")
    return folder


def git(*arguments: str, cwd: Path | None = None) -> str:
    """Run git."""
    done = subprocess.run(["git", *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def commit(message: str, cwd: Path | None = None) -> None:
    """Commit everything."""
    git("add", "-A", cwd=cwd)
    git("commit", "-qm", message, cwd=cwd)


def found(run: Run, revision: str, *arguments: str) -> list[tuple[str, int]]:
    """The findings in lines that changed since a revision."""
    result = run("check", "--since", revision, "--output-format", "json", *arguments)
    assert result.exit_code in (0, 1), result.stderr
    entries = json.loads(result.stdout)
    assert result.exit_code == bool(entries)
    return [(Path(one["filename"]).name, one["location"]["row"]) for one in entries]


def test_lines_count_however_they_changed(run: Run, repository: Path) -> None:
    """Untracked, unstaged, staged and committed changes are all changes; untouched lines are none."""
    assert found(run, "HEAD") == []
    (repository / "nets.py").write_text(NEW)
    (repository / "more.py").write_text(OLD)
    assert found(run, "HEAD") == [("more.py", 5), ("nets.py", 6)]
    git("add", "nets.py")
    assert found(run, "HEAD") == [("more.py", 5), ("nets.py", 6)]
    commit("second")
    assert found(run, "HEAD") == []
    assert found(run, "HEAD~1") == [("more.py", 5), ("nets.py", 6)]
    assert found(run, "HEAD~1", "more.py") == [("more.py", 5)]


def test_a_branch_counts_from_where_work_left_it(run: Run, repository: Path) -> None:
    """Changes on `main` since the branch point do not count."""
    git("checkout", "-q", "-b", "work")
    (repository / "mine.py").write_text(OLD)
    commit("mine")
    git("checkout", "-q", "main")
    (repository / "nets.py").write_text("x = 1\n")
    commit("theirs")
    git("checkout", "-q", "work")
    assert found(run, "main") == [("mine.py", 5)]


def test_unrelated_histories_are_compared_as_they_are(run: Run, repository: Path) -> None:
    """Without a merge base, changes are relative to the revision itself."""
    git("checkout", "-q", "--orphan", "island")
    (repository / "nets.py").write_text(NEW)
    commit("alone")
    assert found(run, "main") == [("nets.py", 6)]


def test_renamed_files_keep_their_old_lines(run: Run, repository: Path) -> None:
    """A renamed file has not changed, whether the rename is staged or committed."""
    (repository / "src").mkdir()
    git("mv", "nets.py", "src/renamed.py")
    assert found(run, "HEAD") == []
    (repository / "src" / "renamed.py").write_text(NEW)
    git("add", "-A")
    assert found(run, "HEAD") == [("renamed.py", 6)]
    commit("second")
    assert found(run, "HEAD~1") == [("renamed.py", 6)]


def test_a_finding_is_touched_with_any_line_of_its_statement(run: Run, repository: Path) -> None:
    """The finding may be on another line of the statement than the change."""
    spread = OLD.replace("b.state_dict()", "b\n        .state_dict()\n        ")
    (repository / "nets.py").write_text(spread)
    commit("spread")
    (repository / "nets.py").write_text(spread.replace("        .items", "        # same\n        .items"))
    assert found(run, "HEAD") == [("nets.py", 5)]
    (repository / "nets.py").write_text("# above\n" + spread + "# below\n")
    assert found(run, "HEAD") == []


def test_line_ends_and_encodings_are_no_changes(run: Run, repository: Path) -> None:
    """Files that git stores with other line ends, or with a byte-order mark, have the same lines."""
    (repository / "nets.py").write_bytes(b"\xef\xbb\xbf" + NEW.replace("\n", "\r\n").encode())
    assert found(run, "HEAD") == [("nets.py", 6)]
    latin = "# -*- coding: latin-1 -*-\n# é\n" + OLD
    (repository / "nets.py").write_bytes(latin.encode("latin-1"))
    commit("latin")
    (repository / "nets.py").write_bytes((latin + CLONED.format("c")).encode("latin-1"))
    assert found(run, "HEAD") == [("nets.py", 8)]


def test_the_whole_project_is_read_for_its_facts(run: Run, repository: Path) -> None:
    """Whether a changed line is hot may depend on a file that has not changed."""
    (repository / "rlint.toml").write_text('select = ["RL502"]\n')
    (repository / "loop.py").write_text(
        "from helper import act\n\n\ndef train(env):\n    while True:\n        env.step(act('x'))\n"
    )
    (repository / "helper.py").write_text("import re\n")
    commit("loop")
    (repository / "helper.py").write_text(
        "import re\n\n\ndef act(text):\n    return re.findall('[a-z]+', text)\n"
    )
    assert found(run, "HEAD") == [("helper.py", 5)]
    assert "loop.py" not in run("check", "--since", "HEAD", "--show-files").stdout


def test_fix_repairs_changed_lines_alone(run: Run, repository: Path) -> None:
    """`fix --since` does not change old lines in any pass."""
    (repository / "old.py").write_text(OLD)
    commit("old")
    (repository / "nets.py").write_text(NEW)
    diff = run("check", "--diff", "--since", "HEAD").stdout
    assert diff.count("\n-    ") == diff.count("\n+    ") == 1
    assert run("fix", "--since", "HEAD").exit_code == 0
    assert (repository / "nets.py").read_text() == OLD + CLONED.format("c").replace("v.clone()", "v")
    assert (repository / "old.py").read_text() == OLD


def test_standard_input_is_compared_with_the_file_that_it_will_be(run: Run, repository: Path) -> None:
    """Unsaved text is compared, too."""
    result = run(
        "check",
        "--since",
        "HEAD",
        "--stdin-filename",
        "nets.py",
        "--output-format",
        "json",
        stdin=NEW.encode(),
    )
    assert [one["location"]["row"] for one in json.loads(result.stdout)] == [6]
    fixed = run("fix", "--since", "HEAD", "--stdin-filename", "nets.py", stdin=NEW.encode())
    assert fixed.stdout == OLD + CLONED.format("c").replace("v.clone()", "v")


def test_what_is_broken_and_unchanged_stops_no_run(run: Run, repository: Path) -> None:
    """A syntax error that was there before is not reported; a new one is."""
    (repository / "broken.py").write_text("def f(:\n")
    commit("broken")
    (repository / "nets.py").write_text(NEW)
    assert found(run, "HEAD") == [("nets.py", 6)]
    (repository / "broken.py").write_text("def f(::\n")
    assert "broken.py" in run("check", "--since", "HEAD").stderr


def test_nothing_changed_is_said(run: Run, repository: Path) -> None:
    """An empty output of git is valid."""
    result = run("check", "--since", "HEAD")
    assert (result.exit_code, "No Python file has changed since HEAD." in result.stderr) == (0, True)


@pytest.mark.parametrize("revision", ["gone", "--output=x", "HEAD~9", "", "HEAD:nets.py"])
def test_an_unknown_revision_is_an_error(run: Run, repository: Path, revision: str) -> None:
    """It names the revision and the repository."""
    result = run("check", f"--since={revision}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"`--since {revision}`: unknown git revision in {repository.resolve()}" in result.stderr
    assert not (repository / "x").exists()


def test_outside_of_a_repository(run: Run, folder: Path) -> None:
    """Without a repository there is nothing to compare with."""
    result = run("check", "--since", "HEAD", "clean.py")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "clean.py is not in a git repository" in result.stderr


def test_without_git(run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what is missing."""
    monkeypatch.setenv("PATH", "")
    result = run("check", "--since", "HEAD")
    assert (result.exit_code, "git is required" in result.stderr) == (2, True)


def test_a_shallow_clone_gets_advice_how_to_fetch_its_history(
    run: Run, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CI systems usually fetch a shallow clone."""
    commit_of_first = git("rev-parse", "HEAD")
    (repository / "nets.py").write_text(NEW)
    commit("second")
    git("clone", "-q", "--depth=1", repository.as_uri(), str(tmp_path / "shallow"))
    monkeypatch.chdir(tmp_path / "shallow")
    result = run("check", "--since", commit_of_first)
    assert (result.exit_code, "git fetch --unshallow" in result.stderr) == (2, True)


def test_submodules(run: Run, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """In a submodule, changes are relative to the commit that the project recorded for it."""
    library = tmp_path_factory.mktemp("library")
    git("init", "-q", cwd=library)
    (library / "lib.py").write_text(OLD)
    commit("library", cwd=library)
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.as_uri(), "lib")
    assert found(run, "HEAD") == [("lib.py", 5)]
    commit("submodule")
    assert found(run, "HEAD") == []
    (repository / "lib" / "lib.py").write_text(NEW)
    assert found(run, "HEAD") == [("lib.py", 6)]
    commit("in it", cwd=repository / "lib")
    assert found(run, "HEAD") == [("lib.py", 6)]
    commit("moved on")
    assert found(run, "HEAD") == []
    assert found(run, "HEAD~1") == [("lib.py", 6)]
    assert found(run, "HEAD~2") == [("lib.py", 5), ("lib.py", 6)]


def test_a_clone_inside_is_new_to_the_project(run: Run, repository: Path) -> None:
    """A nested repository that the project does not track has none of its revisions."""
    git("tag", "v1")
    (repository / "clone").mkdir()
    git("init", "-q", cwd=repository / "clone")
    (repository / "clone" / "other.py").write_text(OLD)
    commit("other", cwd=repository / "clone")
    assert found(run, "v1") == [("other.py", 5)]


def test_inside_a_hook_the_repository_of_the_files_counts(
    run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git hooks run with environment variables that name their own repository."""
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    (repository / "nets.py").write_text(NEW)
    assert found(run, "HEAD") == [("nets.py", 6)]


def test_a_worktree_is_a_repository(run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if it is inside the other one."""
    git("worktree", "add", "-q", "-b", "side", "side")
    monkeypatch.chdir(repository / "side")
    (repository / "side" / "nets.py").write_text(NEW)
    assert found(run, "main") == [("nets.py", 6)]


def test_nothing_of_the_repositorys_configuration_runs(run: Run, repository: Path) -> None:
    """Diff programs, filters and monitors that a repository configures are not run."""
    git("config", "core.fsmonitor", "touch ran; false")
    git("config", "diff.external", "touch ran; false")
    git("config", "filter.bad.clean", "touch ran; cat")
    git("config", "filter.bad.smudge", "touch ran; cat")
    git("config", "diff.bad.textconv", "touch ran; cat")
    (repository / ".gitattributes").write_text("*.py filter=bad diff=bad\n")
    (repository / "nets.py").write_text(NEW)
    assert found(run, "HEAD") == [("nets.py", 6)]
    assert not (repository / "ran").exists()


def test_together_with_a_baseline(run: Run, repository: Path) -> None:
    """A known finding stays hidden, and unchanged lines are not reported."""
    run("check", "--write-baseline", "known.json")
    (repository / "nets.py").write_text(NEW.replace("copy(", "copy(  "))
    result = run("check", "--since", "HEAD", "--baseline", "known.json", "--output-format", "json")
    assert [one["location"]["row"] for one in json.loads(result.stdout)] == [6]
    assert "gone" not in result.stderr
