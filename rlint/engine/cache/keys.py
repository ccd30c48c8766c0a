"""Cache keys: digests of all inputs of cached results, so that nothing in the cache can be stale."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator

import rlint
from rlint.registry import catalogue
from rlint.run_data import FileTask

_WITHOUT_PART = frozenset({"__pycache__", "cli", "fixtures", "lsp", "profiles", "survey", "trial"})
"""Folders of rlint that do not affect cached results."""


def key_of(
    group: Iterable[tuple[FileTask, str]], *, ignore_suppressions: bool, own: bytes | None = None
) -> str:
    """Return the digest of all inputs of a group's results: its tasks, each with the digest of its text.
    `own` is the digest of rlint itself, if not that of this installation.
    """
    digest = hashlib.sha256(own_digest() if own is None else own)
    if catalogue.added():
        digest.update(_plugins_digest(tuple(catalogue.added())))
    digest.update(b"1" if ignore_suppressions else b"0")
    for job, content in group:
        codes = "-" if job.codes is None else _joined(job.codes)
        digest.update(b"1" if job.judged else b"0")
        digest.update(_kind(job).encode())
        for text in (job.name, job.module, job.package, job.starred, codes):
            digest.update(text.encode("utf-8", "surrogateescape") + b"\0")
        digest.update(repr(job.measured).encode("utf-8", "backslashreplace") if job.measured else b"")
        digest.update(_declared(job))
        digest.update(content.encode("ascii"))
    return digest.hexdigest()


def key_of_summary(job: FileTask) -> str:
    """Return the digest of all inputs of a file's summary."""
    digest = hashlib.sha256(own_digest())
    measured = repr(job.measured) if job.measured else ""
    for text in (job.name, job.module, job.package, job.digest, job.starred, measured, _kind(job)):
        digest.update(text.encode("utf-8", "backslashreplace") + b"\0")
    digest.update(_declared(job))
    return digest.hexdigest()


def _kind(job: FileTask) -> str:
    """Return how the file of a task is read, and what its place in the project says of it."""
    if job.is_configuration:
        return "configuration"
    if job.is_next_to_programs:
        return "beside programs"
    return "loader" if job.is_loader else ""


def _declared(job: FileTask) -> bytes:
    """Return the declarations for a file, including entry points: those in other files change its heat."""
    return b"" if job.declared.says_nothing else repr(job.declared).encode("utf-8", "backslashreplace")


@functools.lru_cache(maxsize=64)  # most files of a run are checked with the same settings
def _joined(codes: frozenset[str]) -> str:
    return ",".join(sorted(codes))


@functools.cache
def own_digest() -> bytes:
    """Return a digest of the installed rlint, from sizes and times of its files, and of the Python that runs
    it.
    """
    digest = hashlib.sha256(f"{rlint.__version__} {sys.version}".encode())
    for path, status in sorted(_own_files()):
        digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return digest.digest()


@functools.cache
def _plugins_digest(names: tuple[str, ...]) -> bytes:  # noqa: ARG001 - it stands for what is in use
    from rlint.registry.plugins import digest

    return digest()


def _own_files() -> Iterator[tuple[str, os.stat_result]]:
    # in a checkout, the rules lie elsewhere
    pending = [os.path.dirname(rlint.__file__), *map(str, catalogue.folders())]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    yield entry.path, entry.stat()
                elif entry.is_dir(follow_symlinks=False) and entry.name not in _WITHOUT_PART:
                    pending.append(entry.path)
