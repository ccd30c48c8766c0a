"""Unsafe fixes in a working tree with changes that are not committed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from patience import PATIENCE

Run = Callable[..., Result]

UNSAFE = """\
class Agent:
    def learn(self, batch):
        self.target.load_state_dict({k: v.clone() for k, v in self.net.state_dict().items()})
"""
FIXED = UNSAFE.replace(".clone()", "")


def git(folder: Path, *arguments: str) -> str:
    """Run git with a fixed author."""
    command = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def tree(folder: Path) -> Path:
    """A repository without uncommitted changes; `agent.py` has an unsafe fix, `fixable.py` a safe one."""
    (folder / "agent.py").write_text(UNSAFE)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    return folder


def test_a_clean_tree_is_fixed(run: Run, tree: Path) -> None:
    """The user is not prompted if `git diff` will show only the fixes; ignored files do not count."""
    (tree / ".git" / "info" / "exclude").write_text("runs/\n")
    (tree / "runs").mkdir()
    (tree / "runs" / "log").write_text("")
    assert run("fix", "--unsafe-fixes", "agent.py").exit_code == 0
    assert (tree / "agent.py").read_text() == FIXED


@pytest.mark.parametrize("how", ["changed", "staged", "untracked", "deleted", "elsewhere"])
@pytest.mark.parametrize("command", [("fix",), ("check", "--fix")])
def test_uncommitted_changes_keep_unsafe_fixes_back(
    run: Run, tree: Path, how: str, command: tuple[str, ...]
) -> None:
    """The status is 2, the files are named, and nothing is changed, not even by safe fixes; --allow-dirty
    continues.
    """
    named = "clean.py"
    if how == "changed":
        (tree / "clean.py").write_text("z = 4\n")
    elif how == "staged":
        (tree / "clean.py").write_text("z = 4\n")
        git(tree, "add", ".")
    elif how == "untracked":
        named = "new file.txt"
        (tree / named).write_text("")
    elif how == "deleted":
        (tree / "clean.py").unlink()
    else:
        named = "before.py"
        git(tree, "mv", "clean.py", named)
    done = run(*command, "--unsafe-fixes")
    assert done.exit_code == 2
    assert f"1 unsafe fix would be applied, but {tree} has uncommitted changes" in done.stderr
    assert f"\n  {named}\n" in done.stderr
    assert "`--allow-dirty`" in done.stderr
    assert (tree / "agent.py").read_text() == UNSAFE
    assert "ignore" in (tree / "fixable.py").read_text()
    assert run(*command, "--unsafe-fixes", "--allow-dirty").exit_code == 1
    assert (tree / "agent.py").read_text() == FIXED


def test_safe_fixes_need_no_clean_tree(run: Run, tree: Path) -> None:
    """A safe fix needs no review; --diff changes nothing at all."""
    (tree / "clean.py").write_text("z = 4\n")
    run("fix")
    assert (tree / "fixable.py").read_text() == "x = 1\n"
    assert run("fix", "--unsafe-fixes", "--diff").exit_code == 1
    assert (tree / "agent.py").read_text() == UNSAFE


def test_without_a_repository_the_user_is_not_prompted(run: Run, folder: Path) -> None:
    """Without a repository, there is no check for changes."""
    (folder / "agent.py").write_text(UNSAFE)
    assert run("fix", "--unsafe-fixes", "agent.py").exit_code == 0


def test_a_repository_that_git_does_not_read_counts_as_changed(
    run: Run, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without git, or with a broken repository, uncommitted changes cannot be determined."""
    (tree / ".git" / "HEAD").write_text("broken")
    done = run("fix", "--unsafe-fixes")
    assert done.exit_code == 2
    assert "uncommitted changes cannot be determined" in done.stderr
    monkeypatch.setenv("PATH", str(tree))
    assert "git is required, but it is not on the PATH" in run("fix", "--unsafe-fixes").stderr
    assert (tree / "agent.py").read_text() == UNSAFE


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals of POSIX")
@pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("n\n", 2), ("\n", 2)])
def test_on_a_terminal_the_user_is_prompted(tree: Path, answer: str, status: int) -> None:
    """The answer yes continues; no, or no answer, changes nothing."""
    import pty
    import sys

    (tree / "clean.py").write_text("z = 4\n")
    ours, counterpart = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "rlint", "fix", "--unsafe-fixes", "agent.py"],
        stdin=counterpart,
        stderr=counterpart,
        stdout=subprocess.DEVNULL,
    ) as process:
        os.close(counterpart)
        said = b""
        while b"[y/N]" not in said:
            said += os.read(ours, 1000)
        os.write(ours, answer.encode())
        assert process.wait(PATIENCE) == status
    os.close(ours)
    assert "clean.py" in said.decode()
    assert (tree / "agent.py").read_text() == (FIXED if status == 0 else UNSAFE)


def test_nothing_that_a_repository_configures_is_run(
    run: Run, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Filters, monitors, hooks, pagers, aliases and a `git` in the tree are never run."""
    trap = tree.parent / "trap.sh"
    sprung = tree.parent / "sprung"
    sprung.unlink(missing_ok=True)
    trap.write_text(f'#!/bin/sh\necho "$0 $*" >> {sprung}\ncat\n')
    trap.chmod(0o755)
    (tree / ".gitattributes").write_text("*.py filter=a=b diff=evil\n*.txt filter=process\n")
    (tree / "notes.txt").write_text("")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "two")
    with (tree / ".git" / "config").open("a") as config:
        config.write(
            f"[core]\n fsmonitor = {trap}\n pager = {trap}\n editor = {trap}\n sshCommand = {trap}\n"
            f" hooksPath = {tree}/hooks\n"
            f'[filter "a=b"]\n clean = {trap}\n smudge = {trap}\n required = true\n'
            f'[filter "process"]\n process = {trap}\n required = true\n'
            f'[diff "evil"]\n textconv = {trap}\n command = {trap}\n[diff]\n external = {trap}\n'
            f"[alias]\n status = !{trap}\n config = !{trap}\n[pager]\n status = {trap}\n"
        )
    (tree / "hooks").mkdir()
    for hook in ("post-index-change", "fsmonitor-watchman", "post-checkout", "pre-commit"):
        (tree / "hooks" / hook).symlink_to(trap)
    (tree / "git").symlink_to(trap)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{os.environ['PATH']}")
    for path in tree.glob("*.*"):
        os.utime(path)  # git has to look at the contents
    done = run("fix", "--unsafe-fixes")
    assert done.exit_code == 2
    assert "hooks/" in done.stderr
    assert "agent.py" not in done.stderr
    run("check", "--since", "HEAD")
    assert not sprung.exists() or sprung.read_text() == ""
