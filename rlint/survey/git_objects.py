"""Repositories from URLs: commits are fetched, and files are read from git's own store.

No code of a repository runs: there is no working tree, so no filter (such as for large files), no hook and no
submodule is involved. Commands that ask for a password fail instead.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO

from rlint.config.options import FILE_NAMES
from rlint.config.stated_versions import STATING_FILES
from rlint.errors import RlintError
from rlint.source.git import MISLEADING, git_program
from rlint.survey.credentials import scrubbed
from rlint.survey.repository_list import SurveyedRepository

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_CONTENT = frozenset({".gitignore", *FILE_NAMES, *STATING_FILES})
_MARKS = frozenset({"pyvenv.cfg"})
"""Files whose existence matters, not their content."""
_SOURCE = (".py", ".ipynb")
_LINK, _FILES = b"120000", (b"100644", b"100755", b"100664")
_LARGE = "16m"
"""Larger files are fetched only if they are to be checked, if the server can leave them out."""
_OPTIONS = (
    "-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false", "-c", "gc.auto=0",
    "-c", "maintenance.auto=false", "-c", "protocol.ext.allow=never", "-c", "submodule.recurse=false",
    "-c", "fetch.recurseSubmodules=false", "-c", "credential.interactive=false",
)  # fmt: skip
_SETTINGS = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "SSH_ASKPASS_REQUIRE": "never",
}
_MISLEADING = MISLEADING | {"GIT_TEMPLATE_DIR"}


class RemoteRepository:
    """A repository at a URL, and the folder in which its commits are stored temporarily."""

    def __init__(self, repository: SurveyedRepository, folder: Path) -> None:
        self._repository = repository
        self._folder = folder / "objects.git"
        self._folder.mkdir(parents=True)
        self._run("init", "--quiet", "--bare", "--template=", ".")

    def commit(self) -> str:
        """Return the commit that the revision means now. Raises RlintError if there is none."""
        revision = self._repository.revision
        if _COMMIT.fullmatch(revision):
            return revision
        refs = _references(revision)
        listed = self._run("ls-remote", "--quiet", "origin", *refs).decode("utf-8", "replace")
        found = {name: commit for commit, _, name in (line.partition("\t") for line in listed.splitlines())}
        for name in refs:
            if _COMMIT.fullmatch(found.get(name, "")):
                return found[name]
        what = f"no branch, tag or full commit `{revision}`" if revision else "no default branch"
        raise RlintError(f"it has {what}")

    def extract(self, commit: str, folder: Path) -> None:
        """Write the files of a commit that a check reads to a new folder."""
        self._run(
            *(
                "fetch",
                "--quiet",
                "--depth=1",
                "--no-tags",
                "--no-recurse-submodules",
                "--no-write-fetch-head",
            ),
            *(f"--filter=blob:limit={_LARGE}", "origin", commit),
        )
        (folder / ".git").mkdir(parents=True)  # its root is the root of a project
        files: list[tuple[str, str]] = []
        links: list[tuple[str, str]] = []
        for mode, identity, path in self._tree(commit):
            if not _is_plain(path):
                continue
            name = path.rpartition("/")[2]
            if mode == _LINK:
                if name.endswith(_SOURCE):
                    links.append((path, identity))
                elif _is_interpreter(path):
                    _new(folder / path)
            elif mode in _FILES:
                if name.endswith(_SOURCE) or name in _CONTENT:
                    files.append((path, identity))
                elif name in _MARKS or _is_interpreter(path):
                    _new(folder / path)
        for (path, _), content in zip(files, self._contents([one for _, one in files]), strict=True):
            _new(folder / path).write_bytes(content)
        for (path, _), content in zip(links, self._contents([one for _, one in links]), strict=True):
            _link(folder, path, os.fsdecode(content))

    def _tree(self, commit: str) -> Iterator[tuple[bytes, str, str]]:
        for record in self._run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
            facts, _, path = record.partition(b"\t")
            if path:
                mode, _, identity = facts.split(b" ")
                yield mode, identity.decode(), os.fsdecode(path)

    def _contents(self, identities: list[str]) -> Iterator[bytes]:
        """Yield the contents of files, one after the other."""
        if not identities:
            return
        queried = self._folder / "asked"
        queried.write_text("".join(f"{one}\n" for one in identities))
        with (
            queried.open("rb") as given,
            subprocess.Popen(  # noqa: S603 - a list, no shell
                self._command("cat-file", "--batch"),
                cwd=self._folder,
                env=self._environment(),
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            ) as process,
        ):
            assert process.stdout is not None
            for _ in identities:
                yield self._content(process.stdout)

    def _content(self, stream: IO[bytes]) -> bytes:
        facts = stream.readline().split()
        if len(facts) != 3 or not facts[2].isdigit():
            raise RlintError("git cannot read a file of the commit")
        content = stream.read(int(facts[2]))
        stream.read(1)
        return content

    def _run(self, *arguments: str) -> bytes:
        done = subprocess.run(  # noqa: S603 - a list, no shell
            self._command(*arguments),
            cwd=self._folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip() or f"status {done.returncode}"
            reason = scrubbed(said, self._repository.location).splitlines()[-1]
            raise RlintError(f"`git {arguments[0]}` failed: {reason}")
        return done.stdout

    def _command(self, *arguments: str) -> list[str]:
        return [git_program(), *_OPTIONS, *arguments]

    def _environment(self) -> dict[str, str]:
        """Return the environment of git. The URL is passed in it, so that it is not written to any file."""
        kept = {key: value for key, value in os.environ.items() if key not in _MISLEADING}
        kept.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
        return {**kept, **_SETTINGS, **_with_setting(kept, "remote.origin.url", self._repository.location)}


def _with_setting(environment: Mapping[str, str], key: str, value: str) -> dict[str, str]:
    said = environment.get("GIT_CONFIG_COUNT", "")
    number = int(said) if said.isdigit() else 0
    return {
        f"GIT_CONFIG_KEY_{number}": key,
        f"GIT_CONFIG_VALUE_{number}": value,
        "GIT_CONFIG_COUNT": str(number + 1),
    }


def _references(revision: str) -> list[str]:
    """Return the names that a revision may mean; the first existing one counts."""
    if not revision:
        return ["HEAD"]
    if revision.startswith("refs/") or revision == "HEAD":
        return [f"{revision}^{{}}", revision]
    return [f"refs/tags/{revision}^{{}}", f"refs/tags/{revision}", f"refs/heads/{revision}"]


def _is_plain(path: str) -> bool:
    """Whether a path of a tree, which is untrusted, stays within its folder."""
    parts = path.split("/")
    return not any(part.lower() in ("", ".", "..", ".git") or "\\" in part or "\0" in part for part in parts)


def _is_interpreter(path: str) -> bool:
    """Whether a file marks its folder as a virtual environment, whose files are not checked."""
    parts = PurePosixPath(path).parts
    return "conda-meta" in parts[:-1] or parts[-2:] in (("bin", "python"), ("Scripts", "python.exe"))


def _new(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(exist_ok=False)
    return path


def _link(top: Path, path: str, target: str) -> None:
    """Create a link to a file of the commit; links that lead elsewhere are left out."""
    place = top / path
    goal = os.path.normpath(os.path.join(place.parent, target))
    if os.path.isabs(target) or not goal.startswith(f"{top}{os.sep}") or not os.path.isfile(goal):
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(os.path.relpath(goal, place.parent))
