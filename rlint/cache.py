"""Results of earlier runs, kept in files: data only, each readable on its own.

A file holds what was found in one group of files that can know of one another. Its name is a digest of
all that the result hangs on: the texts, the names, the selected codes, rlint itself, the plugins in use and
the Python that runs it. So nothing is ever out of date, two runs at once write the same, and what is
damaged, cut off or gone counts as not there. So does what somebody else has made: a folder of results may
come with code that was checked out, and each is signed with a key that lies with the user, not beside it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import rlint
from rlint import atomic, registry
from rlint.files import read_regular
from rlint.findings import Cell, Edit, Elsewhere, Finding, Fix, Heat, Position, Problem, Safety
from rlint.runs import Job, Result

FOLDER = ".rlint_cache"
_KEY_BYTES, _MOST_BYTES = 32, 200_000_000
_VERSION = re.compile(r"\d+\.\d+[\w.+-]*", re.ASCII)
MOST_FILES = 2_000
"""When there are more, the oldest half goes."""
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of rlint. It can be deleted.\n"


class Cache:
    """A folder of results. No failure to read or write is ever an error: it is work done again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._results = folder / rlint.__version__
        self._key = None if _leads_away(folder, self._results) else own_key()

    @property
    def is_usable(self) -> bool:
        """Whether results can be kept: the folder is no link, and there is a key to sign them with."""
        return self._key is not None

    def load(self, key: str) -> list[Result] | None:
        """The results under a key; None if there are none."""
        path = self._results / f"{key}.json"
        if self._key is None:
            return None
        try:
            check, _, text = (read_regular(path, _MOST_BYTES) or b"").partition(b"\n")
            if not hmac.compare_digest(check, self._signature(key, text)):
                return None
            results = [_result(data) for data in json.loads(text)]
            os.utime(path)  # what is used stays longest
        except (OSError, ValueError):
            return None
        return results

    def store(self, key: str, results: Sequence[Result]) -> None:
        """Keep results, unless a bug of rlint had a part in them."""
        if any(problem.is_bug for result in results for problem in result.problems):
            return
        if self._key is None:
            return
        with contextlib.suppress(OSError, ValueError):
            if not self._results.is_dir():
                self._make()
            text = json.dumps([_plain(result) for result in results], separators=(",", ":")).encode("ascii")
            data = self._signature(key, text) + b"\n" + text
            atomic.replace_file(self._results / f"{key}.json", data, sync=False)

    def tidy(self) -> None:
        """Delete the oldest results where there are many, and those of other versions."""
        if self._key is None:
            return
        with contextlib.suppress(OSError):
            for other in self._folder.iterdir():
                # nothing but what rlint may have made: whoever configures the folder may have named another
                if _VERSION.fullmatch(other.name) and other != self._results and not other.is_symlink():
                    _empty(path for path in other.iterdir() if path.suffix in (".json", ".tmp"))
                    with contextlib.suppress(OSError):
                        other.rmdir()
            files = [(path.lstat().st_mtime, path) for path in self._results.glob("*.json")]
            if len(files) > MOST_FILES:
                _empty(path for _, path in sorted(files)[: len(files) - MOST_FILES // 2])

    def _signature(self, key: str, text: bytes) -> bytes:
        assert self._key is not None
        return hmac.new(self._key, key.encode() + text, "sha256").hexdigest().encode("ascii")

    def _make(self) -> None:
        self._results.mkdir(parents=True, exist_ok=True)
        for name, text in (("CACHEDIR.TAG", _TAG), (".gitignore", "*\n")):
            if not (self._folder / name).exists():
                (self._folder / name).write_text(text, encoding="ascii")


def _leads_away(*folders: Path) -> bool:
    """Whether one of the folders is a link: what is written there would be written elsewhere."""
    return any(folder.is_symlink() for folder in folders)


@functools.cache
def own_key() -> bytes | None:
    """The user's key, made where there is none; None where it can neither be read nor made."""
    base = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME", "")
    try:
        folder = (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "rlint"
        path = folder / "key"
        for _ in range(2):
            key = read_regular(path)
            if key is not None and len(key) == _KEY_BYTES:
                return key
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_once(path, os.urandom(_KEY_BYTES), damaged=key is not None)
    except (OSError, RuntimeError):  # no home
        return None
    return None


def _write_once(path: Path, key: bytes, *, damaged: bool) -> None:
    """Write a key, unless another process was faster: all have to sign with the same one."""
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(key)
        if damaged or not hasattr(os, "link"):
            os.replace(name, path)
        else:
            with contextlib.suppress(FileExistsError):
                os.link(name, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


def _empty(paths: Iterable[Path]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()


def key_of(group: Iterable[tuple[Job, bytes]], *, ignore_suppressions: bool) -> str:
    """The digest of all that the results of a group hang on: its jobs, each with the digest of its text."""
    digest = hashlib.sha256(own_digest())
    if registry.added():
        digest.update(_plugins_digest(tuple(registry.added())))
    digest.update(b"1" if ignore_suppressions else b"0")
    for job, content in group:
        codes = "-" if job.codes is None else ",".join(sorted(job.codes))
        digest.update(b"1" if job.judged else b"0")
        for text in (job.name, job.module, job.package, codes):
            digest.update(text.encode("utf-8", "surrogateescape") + b"\0")
        digest.update(repr(job.measured).encode("utf-8", "backslashreplace") if job.measured else b"")
        digest.update(content)
    return digest.hexdigest()


@functools.cache
def own_digest() -> bytes:
    """A digest of rlint as it is installed, told from sizes and times, and of the Python that runs it."""
    digest = hashlib.sha256(f"{rlint.__version__} {sys.version}".encode())
    for path, status in sorted(_own_files()):
        digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return digest.digest()


@functools.cache
def _plugins_digest(names: tuple[str, ...]) -> bytes:  # noqa: ARG001 - it stands for what is in use
    from rlint.plugins import digest

    return digest()


def _own_files() -> Iterator[tuple[str, os.stat_result]]:
    # in a checkout, the rules lie elsewhere
    pending = [*rlint.__path__, *map(str, registry.folders())]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in ("__pycache__", "harness", "fixtures"):
                        pending.append(entry.path)
                elif entry.name.endswith(".py"):
                    yield entry.path, entry.stat()


# --- results as plain data ---


def _plain(result: Result) -> list[Any]:
    findings = [
        [
            each.code, each.name, each.message, each.path,
            each.start.line, each.start.column, each.end.line, each.end.column,
            each.first_line, each.last_line, int(each.heat), each.chain, each.advice,
            each.fix and [
                each.fix.title, each.fix.safety.value, each.fix.reason,
                _plain_edits(each.fix.edits),
                [[other.path, _plain_edits(other.edits), other.digest] for other in each.fix.elsewhere],
                each.fix.takes_away,
            ],
            _plain_cell(each.cell),
        ]
        for each in result.findings
    ]  # fmt: skip
    problems = [
        [each.path, each.message, each.line, each.column, each.hint, _plain_cell(each.cell)]
        for each in result.problems
    ]
    return [result.name, findings, problems, result.checked]


def _plain_cell(cell: Cell | None) -> list[Any] | None:
    return [cell.index, cell.id, cell.before, cell.file_line] if cell else None


def _plain_edits(edits: Iterable[Edit]) -> list[Any]:
    return [[edit.start, edit.end, edit.text, edit.shared] for edit in edits]


def _result(data: list[Any]) -> Result:
    name, findings, problems, checked = data
    return Result(name, tuple(map(_finding, findings)), tuple(map(_problem, problems)), checked=checked)


def _problem(data: list[Any]) -> Problem:
    path, message, line, column, hint, cell = data
    return Problem(path, message, line, column, hint, cell=Cell(*cell) if cell else None)


def _finding(data: list[Any]) -> Finding:
    code, name, message, path, line, column, last_line, last_column, *others = data
    first, last, heat, chain, advice, fix, cell = others
    return Finding(
        code, name, message, path, Position(line, column), Position(last_line, last_column),
        first, last, Heat(heat), tuple(chain), advice, _fix(fix) if fix else None,
        Cell(*cell) if cell else None,
    )  # fmt: skip


def _fix(data: list[Any]) -> Fix:
    title, safety, reason, edits, others, takes_away = data
    elsewhere = tuple(Elsewhere(path, _edits(own), digest) for path, own, digest in others)
    return Fix(title, Safety(safety), _edits(edits), reason, elsewhere, takes_away)


def _edits(data: list[Any]) -> tuple[Edit, ...]:
    return tuple(Edit(*edit) for edit in data)
