"""Decoding and encoding of files: with the file's own encoding, without loss."""

from __future__ import annotations

import codecs
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from rlint.file_paths import absolute
from rlint.findings import Problem
from rlint.frozen import frozen
from rlint.regex import regex
from rlint.source.links import is_link

if TYPE_CHECKING:
    from rlint.notebook.notebook import Notebook

_CODING_LINE = regex(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
_COMMENT_OR_BLANK = regex(rb"[ \t\f]*(?:#.*)?", re.ASCII)
_LINE_END = regex(rb"\r\n|\r|\n")
NOTEBOOK = ".ipynb"

MOST_BYTES = 4_000_000
"""Larger files are not programs written by hand, and would take gigabytes of memory to analyse."""
MOST_NOTEBOOK_BYTES = 200_000_000
"""Outputs make notebooks large, but cost little; their code is limited by MOST_BYTES."""


FileStamp: TypeAlias = list[int]
"""Size, inode, and the times of the last change of content and of metadata, in a form that JSON restores
exactly.
"""


def stamp_of(path: str | Path) -> FileStamp | None:
    """Return what changes with a file; None if it does not exist, or cannot be accessed."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return [status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns]


@frozen
class Source:
    """A file as it was read. `text` keeps the line ends without the byte-order mark; of a notebook, it is the
    Python text of its cells.
    """

    path: Path
    """Absolute."""
    name: str
    """The displayed name: relative to the working folder if it is below it, with `/`."""
    text: str
    encoding: str
    bom: bool
    raw: bytes
    notebook: Notebook | None = None

    def encode(self, text: str) -> bytes:
        """Return `text` as bytes of this file; raise UnicodeEncodeError if its encoding cannot represent
        them.
        """
        if self.notebook is not None:
            return self._mark + self.notebook.rendered(text).encode(self.encoding)
        if self.encoding != "utf-8" and self._encoded(self.text) != self.raw:
            raise self._refusal(self.text, "decoding and encoding does not give the same bytes")
        body = self._encoded(text)
        declared, _ = _declared_encoding(body)
        if (_normalised(declared) if declared else "utf-8") != self.encoding:
            raise self._refusal(
                text, "a comment that declares an encoding would move to or from the first lines"
            )
        return self._mark + body

    @property
    def _mark(self) -> bytes:
        return codecs.BOM_UTF8 if self.bom else b""

    def _encoded(self, text: str) -> bytes:
        try:
            return text.encode(self.encoding)
        except UnicodeEncodeError:
            raise
        except ValueError as error:  # of codecs that can only represent some characters
            raise self._refusal(text, str(error)) from error

    def _refusal(self, text: str, reason: str) -> UnicodeEncodeError:
        return UnicodeEncodeError(self.encoding, text, 0, len(text), reason)

    def unwritable(self, text: str) -> Problem | None:
        """Return why a notebook cannot be written with `text`, if that is so."""
        if self.notebook is None:
            return None
        from rlint.notebook.masks import TornError

        try:
            self.notebook.rendered(text)
        except TornError as error:
            return Problem(
                self.name,
                f"a fix would damage the notebook ({error})",
                hint="the fix was not applied; this is a bug in rlint, please report it",
                is_bug=True,
            )
        return None


def display_name(path: Path, folder: Path | None = None) -> str:
    """Return `path` as shown to users: relative to `folder` (the current folder) if it is below it."""
    try:
        shown = path.relative_to(folder or Path.cwd()).as_posix()
    except (ValueError, OSError):
        shown = path.as_posix()
    # A name that is not valid text in the file system's encoding must still be printable.
    return shown.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def read_source(path: Path, name: str) -> Source | Problem:
    """Read and decode a file. Errors are returned, not raised."""
    try:
        # Opening a pipe or device might block forever.
        status = path.stat()
        mode = status.st_mode
        if stat.S_ISDIR(mode):
            return Problem(name, "cannot be read: it is a folder")
        if not stat.S_ISREG(mode):
            return Problem(name, "cannot be read: it is not a regular file")
        if status.st_size > most_bytes(path):
            return _too_large(name, status.st_size, most_bytes(path))
        raw = path.read_bytes()
    except OSError as error:
        return Problem(name, f"cannot be read: {error.strerror or error}")
    except ValueError as error:  # a null byte in the path
        return Problem(name, f"cannot be read: {error}")
    except MemoryError:
        return Problem(name, "cannot be read: it is too large")
    return _decoded(path, name, raw)


def most_bytes(path: Path) -> int:
    """Return the maximum size of a file to check."""
    return MOST_NOTEBOOK_BYTES if path.suffix == NOTEBOOK else MOST_BYTES


def _too_large(name: str, size: int, most: int, what: str = "files") -> Problem:
    return Problem(
        name,
        f"not checked: the file is too large ({size / 1000000.0:.1f} MB)",
        hint=f"{what} of up to {most / 1000000.0:.0f} MB are checked; `exclude` skips larger ones",
    )


def read_regular(path: str | Path, most: int = MOST_BYTES, *, linked: bool = True) -> bytes | None:
    """Return the content of a file; None if it cannot be read, is too large, or is not a regular file but a
    pipe, for instance, which might block forever. Unless `linked`, a link does not count as a file either.
    """
    if not linked and is_link(path):  # checked first: systems may lack a way to open without following
        return None
    try:
        with open(path, "rb", opener=_open_at_once if linked else _open_itself) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > most:
                return None
            return file.read()
    except (OSError, ValueError, MemoryError):
        return None


def read_text(path: str | Path) -> str | None:
    """Return the text of a small file beside the code, whatever its bytes; None as for `read_regular`."""
    raw = read_regular(path)
    return None if raw is None else raw.decode("utf-8", "surrogateescape")


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _open_itself(path: str, flags: int) -> int:
    return _open_at_once(path, flags | getattr(os, "O_NOFOLLOW", 0))


def source_from_text(raw: bytes, name: str, path: Path | None = None) -> Source | Problem:
    """Return the source for bytes that do not come from a file, such as standard input."""
    return _decoded(path or absolute(name), name, raw)


def _decoded(path: Path, name: str, raw: bytes) -> Source | Problem:
    bom = raw.startswith(codecs.BOM_UTF8)
    body = raw[len(codecs.BOM_UTF8) :] if bom else raw
    if path.suffix == NOTEBOOK:
        return _notebook(path, name, raw, body)
    if b"\0" in body:
        utf16 = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        hint = "it looks like UTF-16: save it as UTF-8" if utf16 else "it is not Python source"
        return Problem(name, "contains null bytes", _line(body, body.index(b"\0")), None, hint)
    declared, line = _declared_encoding(body)
    encoding = _normalised(declared) if declared else "utf-8"
    if encoding is None:
        return Problem(name, f"unknown encoding `{declared}`", line, None, "correct the coding line")
    if bom and encoding != "utf-8":
        hint = "remove one of the two"
        return Problem(
            name, f"starts with a UTF-8 mark, but declares the encoding `{declared}`", line, None, hint
        )
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        message = f"byte 0x{body[error.start]:02x} is not valid {encoding.upper()}"
        hint = "save it as UTF-8, or declare its encoding in the first line: `# -*- coding: latin-1 -*-`"
        column = error.start - _line_start(body, error.start) + 1
        return Problem(name, message, _line(body, error.start), column, hint if not declared else None)
    except (LookupError, ValueError) as error:  # codecs that are not text encodings, or fail otherwise
        return Problem(name, f"cannot be decoded as `{declared}`: {error}", line)
    return Source(path, name, text, encoding, bom, raw)


def _notebook(path: Path, name: str, raw: bytes, body: bytes) -> Source | Problem:
    from rlint.notebook.document import NotebookError
    from rlint.notebook.notebook import Notebook

    try:
        notebook = Notebook(body.decode("utf-8"), name)
    except UnicodeDecodeError as error:
        message = f"is not a notebook: byte 0x{body[error.start]:02x} is not valid UTF-8"
        return Problem(name, message, _line(body, error.start))
    except NotebookError as error:
        if error.offset is None:
            return Problem(name, str(error), None, None, error.hint)
        offset = len(body.decode("utf-8")[: error.offset].encode("utf-8"))
        column = error.offset - body.decode("utf-8").rfind("\n", 0, error.offset)
        return Problem(name, str(error), _line(body, offset), column, error.hint)
    if len(notebook.text) > MOST_BYTES:
        return _too_large(name, len(notebook.text), MOST_BYTES, "notebooks with code")
    return Source(path, name, notebook.text, "utf-8", len(body) < len(raw), raw, notebook)


def _declared_encoding(body: bytes) -> tuple[str | None, int | None]:
    """Return the encoding of a coding line (PEP 263) and the line's number."""
    position = 0
    for number in (1, 2):
        found = _LINE_END.search(body, position)
        line = body[position : found.start() if found else len(body)]
        if match := _CODING_LINE.match(line):
            return match[1].decode("ascii"), number
        if found is None or not _COMMENT_OR_BLANK.fullmatch(line):
            break
        position = found.end()
    return None, None


def _normalised(encoding: str) -> str | None:
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        return None
    return "utf-8" if name == "utf-8-sig" else name  # the mark itself is detected and kept separately


def _line(body: bytes, offset: int) -> int:
    return sum(1 for _ in _LINE_END.finditer(body, 0, offset)) + 1


def _line_start(body: bytes, offset: int) -> int:
    return max(body.rfind(b"\n", 0, offset), body.rfind(b"\r", 0, offset)) + 1
