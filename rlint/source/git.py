"""Queries to git about a repository. No program that a repository configures is run for them: git only reads
stored objects, never working files, which could pass through filters.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from rlint.errors import RlintError
from rlint.frozen import frozen

# Programs that a repository's configuration may name are disabled, and so are locks.
_OPTIONS = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "core.quotePath=false")
# Objects that a partial clone lacks are not fetched: the repository determines the program for that.
_SETTINGS = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
# Hooks are started with these; the repository is found from the files instead.
MISLEADING = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_NAMESPACE"})
_SUBMODULE = b"160000"
_STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=normal", "--ignore-submodules=all")


@frozen
class GitEntry:
    """An entry of a revision's tree."""

    mode: bytes
    identity: str

    @property
    def is_submodule(self) -> bool:
        """Whether it is a commit of another repository."""
        return self.mode == _SUBMODULE


class Repository:
    """A repository with a working tree, whose root folder is `top`."""

    def __init__(self, top: Path) -> None:
        self.top = top

    def base(self, revision: str) -> str | None:
        """Return the merge base with `revision`, or that itself if there is none.

        None if there is no such revision.
        """
        if revision.startswith("-"):
            return None
        named = self._line("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        if named is None:
            return None
        return self._line("merge-base", named, "HEAD") or named

    def has_commit(self, identity: str) -> bool:
        """Whether the commit exists; in a submodule it may not have been fetched."""
        return self._line("rev-parse", "--verify", "--quiet", f"{identity}^{{commit}}") is not None

    def is_shallow(self) -> bool:
        """Whether the past was cut off when the repository was cloned."""
        return self._line("rev-parse", "--is-shallow-repository") == "true"

    def tree(self, commit: str) -> dict[str, GitEntry]:
        """Return all files of a commit by their paths below the root folder."""
        entries = {}
        for record in self._run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
            if record:
                facts, _, path = record.partition(b"\t")
                mode, _, identity = facts.split(b" ")
                entries[os.fsdecode(path)] = GitEntry(mode, identity.decode())
        return entries

    def renamed(self, commit: str) -> dict[str, str]:
        """Return the names in the commit of files that were renamed since, and are tracked."""
        output = self._run(
            "diff-index", "--cached", "--no-ext-diff", "-z", "-M", "--name-status", "--diff-filter=R", commit
        )
        fields = iter(os.fsdecode(output).split("\0"))
        return {new: old for _, old, new in zip(fields, fields, fields, strict=False)}

    @cached_property
    def submodules(self) -> frozenset[str]:
        """Return the paths of the submodules in the index."""
        records = self._run("ls-files", "--stage", "-z").split(b"\0")
        return frozenset(
            os.fsdecode(record.partition(b"\t")[2]) for record in records if record.startswith(_SUBMODULE)
        )

    def changed_paths(self) -> list[str]:
        """Return the files that differ from the last commit, in the index or on disk, and those that are
        neither tracked nor ignored, by their paths below the root folder. Submodules are not searched.
        """
        done = self._start(*_STATUS, settings=self._no_filters())
        records = iter(self._output(done).split(b"\0"))
        found = []
        for record in records:
            if record:
                found.append(os.fsdecode(record[3:]))
                if b"R" in record[:2] or b"C" in record[:2]:
                    next(records, None)  # its earlier name
        return found

    def _no_filters(self) -> dict[str, str]:
        """Return options that disable the filters which the repository itself defines: they are programs, and
        a comparison with files on disk runs them. Those of the user, such as for large files, stay enabled.
        """
        own: dict[str, str] = {}
        users: dict[str, str] = {}
        records = os.fsdecode(self._run("config", "--list", "--show-scope", "-z", "--includes")).split("\0")
        for scope, entry in zip(records[::2], records[1::2], strict=False):
            key, _, value = entry.partition("\n")
            if key.startswith("filter."):
                (own if scope in ("local", "worktree") else users)[key] = value
        # In the environment, because an option ends a key at its first `=`.
        settings = {"GIT_CONFIG_COUNT": str(len(own))}
        for number, key in enumerate(own):
            off = "false" if key.endswith(".required") else ""
            settings[f"GIT_CONFIG_KEY_{number}"] = key
            settings[f"GIT_CONFIG_VALUE_{number}"] = users.get(key, off)
        return settings

    def content(self, identity: str) -> bytes:
        """Return the stored content of a file."""
        return self._run("cat-file", "blob", identity)

    def _line(self, *arguments: str) -> str | None:
        done = self._start(*arguments)
        return os.fsdecode(done.stdout).strip() or None if done.returncode == 0 else None

    def _run(self, *arguments: str) -> bytes:
        return self._output(self._start(*arguments))

    def _output(self, done: subprocess.CompletedProcess[bytes]) -> bytes:
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip() or f"status {done.returncode}"
            raise RlintError(f"{self.top}: `git {done.args[len(_OPTIONS) + 1]}` failed: {said}")
        return done.stdout

    def _start(
        self, *arguments: str, settings: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        kept = {key: value for key, value in os.environ.items() if key not in MISLEADING}
        try:
            done = subprocess.run(  # noqa: S603 - a list, no shell
                [git_program(), *_OPTIONS, *arguments],
                cwd=self.top,
                env={**kept, **_SETTINGS, **(settings or {})},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        except OSError as error:
            raise RlintError(f"git cannot be started: {error.strerror or error}") from error
        if b"dubious ownership" in done.stderr:
            raise RlintError(
                f"{self.top}: belongs to another user, so git does not read it; "
                f"`git config --global --add safe.directory {self.top}` allows that"
            )
        return done


def git_program() -> str:
    """Return the path of git; never one in the current folder, which a relative PATH entry could name."""
    folders = [folder for folder in os.get_exec_path() if os.path.isabs(folder)]
    found = shutil.which("git", path=os.pathsep.join(folders))
    if found is None or not os.path.isabs(found):
        raise RlintError("git is required, but it is not on the PATH")
    return found


def top_of(folder: Path) -> Path | None:
    """Return the root folder of the working tree that contains `folder`; None outside of one."""
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    return None
