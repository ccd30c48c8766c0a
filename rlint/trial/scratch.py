"""A copy of a tree to run commands in, restored before each run; the tree itself is only read."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from types import TracebackType

from rlint.errors import RlintError
from rlint.trial import watchdog
from rlint.trial.copying import NotCopied, copy_tree

_PREFIX = "rlint-trial-"
Signature = tuple[int, int, int, int, int]


class Scratch:
    """Two copies of the folder `root`: one to run commands in, and one from which it is restored.

    `fixed` are the files, relative to `root`, whose texts will change. A context manager: both copies are
    deleted at the end, even if rlint is killed. Raises RlintError if they cannot be created.
    """

    def __init__(self, root: Path, fixed: Collection[Path]) -> None:
        self._base = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
        self._watchdog = _watch(self._base)
        self._kept = self._base / "kept" / (root.name or "root")
        self.folder = self._base / "run" / self._kept.name
        """The working copy."""
        self.left: tuple[NotCopied, ...] = ()
        """Linked and missing files."""
        self._clock = int(time.time())
        try:
            self.left = copy_tree(root, self._kept, fixed)
            shutil.copytree(self._kept, self.folder, symlinks=True)
        except (OSError, shutil.Error) as error:
            self.close()
            raise RlintError(
                f"{root} cannot be copied to {self._base}: {_reason(error)}; "
                "set TMPDIR to a folder with enough free space"
            ) from error
        except BaseException:
            self.close()
            raise
        self._signatures = _signatures(self.folder)

    def __enter__(self) -> Scratch:  # noqa: PYI034 - Python 3.10 has no Self
        """Start to use the copy."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Delete the copy."""
        self.close()

    def close(self) -> None:
        """Delete the copy."""
        _delete(self._base)
        if self._watchdog.stdin is not None:
            with contextlib.suppress(OSError):
                self._watchdog.stdin.close()
        self._watchdog.wait()

    def note(self, process: int) -> None:
        """Inform the watchdog which process runs now; 0: none."""
        if self._watchdog.stdin is not None:
            with contextlib.suppress(OSError):
                self._watchdog.stdin.write(b"%d\n" % process)
                self._watchdog.stdin.flush()

    def renew(self, contents: Mapping[Path, bytes]) -> None:
        """Restore the copy, but with these contents of files, relative to the root."""
        try:
            self._restore()
            for path, content in contents.items():
                file = self.folder / path
                mode = stat.S_IMODE(file.stat().st_mode)
                file.unlink()
                file.write_bytes(content)
                file.chmod(mode)
                # Python decides from size and second whether its bytecode is out of date.
                self._clock = max(self._clock + 1, int(time.time()))
                os.utime(file, (self._clock, self._clock))
        except OSError as error:
            raise RlintError(f"the copy in {self.folder} cannot be updated: {_reason(error)}") from error

    def _restore(self) -> None:
        now = _signatures(self.folder)
        changed = {path for path, known in now.items() if self._signatures.get(path) != known}
        lost = self._signatures.keys() - now.keys()
        for path in sorted(changed, reverse=True):
            _delete(self.folder / path)
        for path in sorted({*changed, *lost}):
            kept, target = self._kept / path, self.folder / path
            if not os.path.lexists(kept):
                continue
            if kept.is_dir() and not kept.is_symlink():
                if not target.is_dir() or target.is_symlink():
                    _delete(target)
                    target.mkdir(parents=True)
                shutil.copystat(kept, target)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(kept, target, follow_symlinks=False)
            self._signatures[path] = _signature(target)


def _signatures(folder: Path) -> dict[str, Signature]:
    found: dict[str, Signature] = {}
    pending = [""]
    while pending:
        inside = pending.pop()
        with os.scandir(folder / inside) as entries:
            for entry in entries:
                path = os.path.join(inside, entry.name)
                found[path] = _signature(folder / path)
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path)
    return found


def _signature(path: Path) -> Signature:
    status = os.lstat(path)
    if stat.S_ISDIR(status.st_mode):
        return (status.st_mode, 0, 0, 0, 0)  # its content is examined separately
    return (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def _delete(path: Path) -> None:
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
        return
    shutil.rmtree(path, ignore_errors=True)
    if path.exists():  # a command may remove permissions, and nothing of the copy may remain
        for folder, _, _ in os.walk(path):
            with contextlib.suppress(OSError):
                os.chmod(folder, 0o700)
        shutil.rmtree(path, ignore_errors=True)


def _watch(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - rlint's own file
        [sys.executable, "-I", "-S", watchdog.__file__, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder.parent,
        start_new_session=True,
    )


def _reason(error: OSError | shutil.Error) -> str:
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        return str(error.args[0][0][-1])
    return error.strerror or str(error)
