"""Repositories from git URLs: the files that a check reads, without running code of the repository."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from small_repositories import CLEAN, GROWS, commit, git, make, remote

from rlint.errors import RlintError
from rlint.survey.git_objects import RemoteRepository
from rlint.survey.repository_list import SurveyedRepository


def names_in(folder: Path) -> set[str]:
    """The files and links below a folder."""
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A hostile repository."""
    top = make(tmp_path, 1)
    (top / "deep").mkdir()
    for name in ("deep/a.py", "b.ipynb", "weights.bin", ".gitignore", "setup.cfg", "pyproject.toml"):
        (top / name).write_text(f"# {name}\r\n", encoding="utf-8", newline="")
    (top / "environment" / "bin").mkdir(parents=True)
    (top / "environment" / "bin" / "python").symlink_to("/usr/bin/python3")
    (top / "outside.py").symlink_to("/etc/passwd")
    (top / "above.py").symlink_to("../../secret.py")
    (top / "inside.py").symlink_to("deep/a.py")
    (top / "folder.py").symlink_to("deep")
    marker = tmp_path / "ran"
    (top / ".gitattributes").write_text("*.py filter=evil\n*.bin filter=lfs\n")
    commit(top)
    hook = top / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {marker}\n")
    hook.chmod(0o755)
    git(top, "config", "filter.evil.smudge", f"touch {marker}; cat")
    return top


def extracted(origin: Path, folder: Path, revision: str = "") -> Path:
    """The files of a revision."""
    folder.mkdir()
    one = RemoteRepository(remote(origin, revision), folder)
    one.extract(one.commit(), folder / "files")
    return folder / "files"


def test_what_is_read(origin: Path, tmp_path: Path) -> None:
    """Sources and settings are exact, marker files are empty, links stay inside, and nothing has run."""
    files = extracted(origin, tmp_path / "out")
    assert names_in(files) == {
        *(
            "module_0.py",
            "module_1.py",
            "module_2.py",
            "deep/a.py",
            "b.ipynb",
            ".gitignore",
            "pyproject.toml",
        ),
        *("setup.cfg", "environment/bin/python", "inside.py"),
    }
    assert (files / "deep" / "a.py").read_bytes() == b"# deep/a.py\r\n"
    assert (files / "module_0.py").read_bytes() == (origin / "module_0.py").read_bytes()
    assert (files / "setup.cfg").read_bytes() == b"# setup.cfg\r\n"  # which may state versions
    assert (files / "environment" / "bin" / "python").read_bytes() == b""
    assert os.readlink(files / "inside.py") == "deep/a.py"
    assert not (tmp_path / "ran").exists()


def test_revisions(origin: Path, tmp_path: Path) -> None:
    """A branch, a tag with or without a message, a commit, and invalid revisions."""
    first = git(origin, "rev-parse", "HEAD")
    git(origin, "tag", "-a", "v1", "-m", "m")
    git(origin, "tag", "v0")
    (origin / "new.py").write_text(CLEAN)
    second = commit(origin)
    git(origin, "branch", "feature/x", first)
    wanted = {
        "": second,
        "v1": first,
        "v0": first,
        "feature/x": first,
        "refs/heads/main": second,
        first: first,
    }
    for number, (revision, expected) in enumerate(wanted.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert RemoteRepository(remote(origin, revision), folder).commit() == expected
    assert "new.py" not in names_in(extracted(origin, tmp_path / "old", first))
    (tmp_path / "none").mkdir()
    with pytest.raises(RlintError, match="no branch, tag or full commit `gone`"):
        RemoteRepository(remote(origin, "gone"), tmp_path / "none").commit()


def test_submodules_are_not_fetched(origin: Path, tmp_path: Path) -> None:
    """They are other repositories."""
    other = make(tmp_path / "other", 2, (GROWS,))
    commit(other)
    git(origin, "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(other), "sub")
    commit(origin)
    assert not any(name.startswith("sub/") for name in names_in(extracted(origin, tmp_path / "out")))


def test_paths_that_lead_away_are_left_out(tmp_path: Path) -> None:
    """A hand-made tree with hostile paths stays in its folder."""
    top = make(tmp_path, 1, (CLEAN,))
    commit(top)
    blob = git(top, "rev-parse", "HEAD:module_0.py")

    def tree(lines: str) -> str:
        done = subprocess.run(
            ["git", "mktree"], cwd=top, input=lines, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    inner = tree(f"100644 blob {blob}\tevil.py\n")
    raw = b"40000 ..\0" + bytes.fromhex(inner) + b"100644 fine.py\0" + bytes.fromhex(blob)
    done = subprocess.run(
        ["git", "hash-object", "-t", "tree", "-w", "--stdin", "--literally"],
        cwd=top,
        input=raw,
        capture_output=True,
        check=True,
    )
    head = git(top, "commit-tree", done.stdout.decode().strip(), "-m", "m")
    git(top, "update-ref", "refs/heads/main", head)
    files = extracted(top, tmp_path / "out")
    assert names_in(files) == {"fine.py"}
    assert not (tmp_path / "out" / "evil.py").exists()


def test_no_secret_is_shown_or_written(tmp_path: Path) -> None:
    """A URL that git cannot fetch: neither the message nor a file holds its password."""
    url = f"file://me:secret@localhost{tmp_path}/missing"
    one = RemoteRepository(SurveyedRepository("file:///missing", url, "", is_remote=True), tmp_path / "a")
    with pytest.raises(RlintError) as error:
        one.commit()
    assert "secret" not in str(error.value)
    contents = [path.read_bytes() for path in (tmp_path / "a").rglob("*") if path.is_file()]
    assert not any(b"secret" in content for content in contents)
