"""Capture output to the descriptors 1 and 2: by `os.write`, child processes and libraries."""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import sys
import tempfile
from collections.abc import Iterator

from rlint.harness.compare.texts import settled

DESCRIPTORS = (1, 2)


@contextlib.contextmanager
def overheard() -> Iterator[dict[int, str]]:
    """Capture output to descriptors within the context; afterwards, the yielded object contains the text of
    each.
    """
    captured: dict[int, str] = {}
    if sys.platform == "win32":  # where files cannot be read at a position
        yield captured
        return
    with contextlib.ExitStack() as stack:
        starts = {descriptor: stack.enter_context(_file_at(descriptor)) for descriptor in DESCRIPTORS}
        try:
            yield captured
        finally:
            _flush_libraries()
            for descriptor, start in starts.items():
                captured[descriptor] = _taken(descriptor, start)


@contextlib.contextmanager
def _file_at(descriptor: int) -> Iterator[int]:
    """Redirect a descriptor to a readable file, and return the offset of the next byte.

    A descriptor that already is such a file is unchanged: output of a crash is read by the waiting process.
    """
    with contextlib.suppress(OSError):
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode):
            start = os.lseek(descriptor, 0, os.SEEK_CUR)
            os.pread(descriptor, 1, 0)  # raises if it is write-only
            yield start
            return
    try:
        kept = os.dup(descriptor)
    except OSError:  # it is closed
        yield 0
        return
    try:
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), descriptor)
            yield 0
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)


def _taken(descriptor: int, start: int) -> str:
    """Read the text written since `start`, and remove it from the file."""
    try:
        end = os.fstat(descriptor).st_size
        written = os.pread(descriptor, max(0, end - start), start)
        os.ftruncate(descriptor, start)
        os.lseek(descriptor, start, os.SEEK_SET)
    except OSError:  # the program has closed it
        return ""
    return settled(written.decode("utf-8", errors="replace"))


def _flush_libraries() -> None:
    """Flush the streams of the C library."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).fflush(None)
