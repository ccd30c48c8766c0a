"""The copy of a tree: its content, linked and omitted files, and its restoration before each run."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from patience import soon
from rlint.errors import RlintError
from rlint.trial import copying
from rlint.trial.scratch import Scratch

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")


def git(folder: Path, *arguments: str) -> str:
    """Run git with a fixed author."""
    command = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with committed, changed, untracked and ignored files."""
    root = tmp_path / "project"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "agent.py").write_text("x = 1\n")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / ".gitignore").write_text("*.bin\n.venv\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    (root / "pkg" / "agent.py").write_text("x = 2\n")
    (root / "notes.txt").write_text("untracked\n")
    (root / "weights.bin").write_bytes(b"ignored")
    return root


def test_uncommitted_untracked_and_ignored_files_are_there(tree: Path) -> None:
    """The command sees the working tree, not the last commit."""
    with Scratch(tree, {Path("pkg/agent.py")}) as scratch:
        assert scratch.folder.name == "project"
        assert (scratch.folder / "pkg" / "agent.py").read_text() == "x = 2\n"
        assert (scratch.folder / "notes.txt").read_text() == "untracked\n"
        assert (scratch.folder / "weights.bin").read_bytes() == b"ignored"
        assert stat.S_IMODE((scratch.folder / "run.sh").stat().st_mode) == 0o755
        base = scratch.folder.parent.parent
    assert not base.exists()


def test_git_works_in_the_copy_and_leaves_the_repository_alone(tree: Path) -> None:
    """A command may run git, or even commit: the user's repository does not change."""
    before = {path: path.read_bytes() for path in (tree / ".git").rglob("*") if path.is_file()}
    with Scratch(tree, set()) as scratch:
        assert git(scratch.folder, "log", "--format=%s") == "one\n"
        assert git(scratch.folder, "status", "--short") == " M pkg/agent.py\n?? notes.txt\n"
        git(scratch.folder, "commit", "-qam", "two")
        scratch.renew({})
        assert git(scratch.folder, "log", "--format=%s") == "one\n"
    assert {path: path.read_bytes() for path in (tree / ".git").rglob("*") if path.is_file()} == before


def test_git_works_in_the_copy_of_a_linked_work_tree(tree: Path, tmp_path: Path) -> None:
    """A work tree has its repository elsewhere."""
    git(tree, "worktree", "add", "-q", "../other", "-b", "topic")
    (tmp_path / "other" / "pkg" / "agent.py").write_text("x = 3\n")
    with Scratch(tmp_path / "other", set()) as scratch:
        assert git(scratch.folder, "branch", "--show-current") == "topic\n"
        git(scratch.folder, "commit", "-qam", "two")
    assert git(tmp_path / "other", "log", "--format=%s") == "one\n"


def test_what_is_linked_or_left_out_is_reported(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Environments and large data are linked, caches and pipes omitted, each with a reason."""
    monkeypatch.setattr(copying, "LARGE_FILE", 1_000)
    monkeypatch.setattr(copying, "MANY_FILES", 5)
    monkeypatch.setattr(copying, "_shared", lambda *_: False)
    (tree / ".venv").mkdir()
    (tree / ".venv" / "pyvenv.cfg").write_text("")
    (tree / "weights.bin").write_bytes(bytes(2_000))
    (tree / "pkg" / "large.py").write_bytes(b"#" * 2_000)
    (tree / "data" / "frames").mkdir(parents=True)
    for number in range(10):
        (tree / "data" / "frames" / f"{number}.png").write_bytes(b"")
    (tree / "data" / "index.txt").write_text("")
    (tree / ".mypy_cache").mkdir()
    os.mkfifo(tree / "pipe")
    with Scratch(tree, {Path("pkg/large.py")}) as scratch:
        described = {(left.path, left.linked): left.reason for left in scratch.left}
        assert described == {
            (".venv", True): "installed packages",
            ("weights.bin", True): "0 MB",
            ("data/frames", True): "much data",
            (".mypy_cache", False): "a cache",
            ("pipe", False): "neither a file nor a folder",
        }
        assert (scratch.folder / "weights.bin").stat().st_size == 2_000
        assert (scratch.folder / "data" / "frames" / "3.png").exists()
        assert not (scratch.folder / "data").is_symlink()
        assert not (scratch.folder / "pkg" / "large.py").is_symlink()
    assert len(list((tree / "data" / "frames").iterdir())) == 10  # links are deleted, not followed
    assert (tree / ".venv" / "pyvenv.cfg").exists()


def test_links_lead_where_they_led(tree: Path, tmp_path: Path) -> None:
    """Links into the tree point into the copy, others to their old targets."""
    (tmp_path / "outside.txt").write_text("outside\n")
    (tree / "in").symlink_to(tree / "pkg" / "agent.py")
    (tree / "pkg" / "relative").symlink_to("../notes.txt")
    (tree / "out").symlink_to("../outside.txt")
    (tree / "nowhere").symlink_to("gone")
    with Scratch(tree, set()) as scratch:
        inside = os.path.realpath(scratch.folder)
        assert os.path.realpath(scratch.folder / "in") == os.path.join(inside, "pkg", "agent.py")
        assert os.path.realpath(scratch.folder / "pkg" / "relative") == os.path.join(inside, "notes.txt")
        assert (scratch.folder / "out").read_text() == "outside\n"
        assert os.readlink(scratch.folder / "nowhere") == "gone"


def test_each_run_begins_from_scratch(tree: Path) -> None:
    """Changes of a run are undone; chosen files have the given content."""
    (tree / "empty").mkdir()
    agent = Path("pkg/agent.py")
    with Scratch(tree, {agent}) as scratch:
        folder = scratch.folder
        before = {path: path.lstat().st_mode for path in sorted(folder.rglob("*"))}
        scratch.renew({agent: b"y = 1\n"})
        assert (folder / agent).read_bytes() == b"y = 1\n"
        (folder / "notes.txt").write_text("changed")
        (folder / "weights.bin").unlink()
        shutil.rmtree(folder / "empty")
        (folder / "run.sh").chmod(0o600)
        (folder / "out" / "deep").mkdir(parents=True)
        (folder / "out" / "deep" / "log").write_text("")
        (folder / "out" / "deep").chmod(0)
        (folder / ".gitignore").unlink()
        (folder / ".gitignore").mkdir()
        scratch.renew({})
        assert {path: path.lstat().st_mode for path in sorted(folder.rglob("*"))} == before
        assert (folder / agent).read_bytes() == b"x = 2\n"
        assert (folder / "notes.txt").read_text() == "untracked\n"


def test_python_never_runs_the_bytecode_of_another_text(tree: Path) -> None:
    """Texts of one length within one second are distinguished, although Python compares size and second."""
    agent = Path("pkg/agent.py")
    with Scratch(tree, {agent}) as scratch:
        said = []
        for number in range(4):
            scratch.renew({agent: b"x = %d\n" % number})
            script = "import pkg.agent; print(pkg.agent.x)"
            done = subprocess.run(
                [sys.executable, "-c", script],
                cwd=scratch.folder,
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "PYTHONPYCACHEPREFIX": str(tree.parent / "bytecode")},
            )
            said.append(int(done.stdout))
    assert said == [0, 1, 2, 3]


def test_no_room_for_the_copy_is_an_error(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is reported, and no files are left."""
    made = []

    def full(*arguments: object, **more: object) -> None:
        made.append(arguments)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(copying.shutil, "copy2", full)
    with pytest.raises(RlintError, match=r"No space left on device; set TMPDIR"):
        Scratch(tree, set())
    target = Path(str(made[0][1]))
    assert not target.parent.parent.parent.exists()


def test_a_kill_leaves_neither_copy_nor_command(tree: Path, tmp_path: Path) -> None:
    """The watchdog cleans up after kill -9."""
    script = (
        "import sys, subprocess, time\nfrom pathlib import Path\nfrom rlint.trial.scratch import Scratch\n"
        f"scratch = Scratch(Path({str(tree)!r}), set())\n"
        "child = subprocess.Popen(['sleep', '9999'], start_new_session=True)\n"
        "scratch.note(child.pid)\nprint(scratch.folder, child.pid, flush=True)\ntime.sleep(9999)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        folder, child = process.stdout.readline().rsplit(" ", 1)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert soon(lambda: not Path(folder).parent.parent.exists() and not Path(f"/proc/{int(child)}").exists())
    with pytest.raises(ProcessLookupError):
        os.kill(int(child), 0)
