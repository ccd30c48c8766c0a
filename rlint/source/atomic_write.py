"""Atomic replacement of a file: concurrent readers see the old content or the new, never a part."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from pathlib import Path

_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def replace_file(
    target: Path,
    data: bytes,
    *,
    like: os.stat_result | None = None,
    holding: bytes | None = None,
    sync: bool = True,
) -> bool:
    """Write `data` to `target`, which need not exist. Raises OSError, and then does not change it.

    The new file has the mode of `like`, and its owner and extended attributes (such as access lists) if the
    system permits; without it, the mode that the system gives to new files. With `holding`, nothing is done
    and False is returned if the file has other content by now. Without `sync`, a file may be truncated
    after a power failure.
    """
    # In the same folder, because a file can only be renamed in one step within a file system.
    handle, temporary = _new_file(target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(handle)
        if like is not None and hasattr(os, "chown"):
            # Only the superuser may change the owner; else the new file belongs to the user of rlint.
            with contextlib.suppress(OSError):
                os.chown(temporary, like.st_uid, like.st_gid)
            _copy_attributes(target, temporary)
        temporary.chmod(stat.S_IMODE(like.st_mode) if like is not None else _usual_mode(target.parent))
        if holding is not None and target.read_bytes() != holding:
            return False
        temporary.replace(target)
        return True
    finally:
        # It still exists after any failure, including an interrupt.
        temporary.unlink(missing_ok=True)


def create_file(path: Path, data: bytes) -> None:
    """Write a file that does not exist yet. Raises FileExistsError if the path exists, even as a dangling
    link.
    """
    with os.fdopen(os.open(path, _CREATE, 0o666), "wb") as file:
        file.write(data)


def _new_file(folder: Path) -> tuple[int, Path]:
    """Create a private file: as `tempfile.mkstemp` does, whose import takes longer than all that a run reads
    and writes.
    """
    while True:
        path = folder / f".rlint-{os.getpid()}-{os.urandom(6).hex()}.tmp"
        with contextlib.suppress(FileExistsError):
            return os.open(path, _CREATE, 0o600), path


def _copy_attributes(source: Path, target: Path) -> None:
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError):
        for name in os.listxattr(source):
            with contextlib.suppress(OSError):  # some may only be set by the system
                os.setxattr(target, name, os.getxattr(source, name))


def _usual_mode(folder: Path) -> int:
    """Return the default mode of new files; a temporary file is private to its owner."""
    return 0o600 | (stat.S_IMODE(folder.stat().st_mode) & 0o044)
