"""Edits that LibCST writes once their text is needed: importing LibCST takes longer than checking a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rlint.findings import Edit
from rlint.regex import regex

_WORD = regex(r"\w+")


class CannotWriteError(Exception):
    """Reason why an edit cannot be written. The fix is left out, and its finding says why."""


class DeferredEdit(Edit):
    """An edit within the characters `start:end` that is written when its text is first read.

    `write` returns its edits, or raises `CannotWriteError` if there are none. `code` is the new code, for
    clients that need its names earlier. `about` is the changed span, if that is less than `start:end`: two
    statements on one line are different edits. `deletes` says that whole statements are deleted.
    """

    __slots__ = ("_about", "_write", "_written", "code", "deletes")

    def __init__(
        self,
        start: int,
        end: int,
        code: str,
        write: Callable[[], tuple[Edit, ...]],
        *,
        shared: bool = False,
        about: tuple[int, int] | None = None,
        deletes: bool = False,
    ) -> None:
        self.start, self.end, self.shared = start, end, shared  # type: ignore[misc]
        self.owns = ()  # type: ignore[misc]
        self.code = code
        self.deletes = deletes
        self._about = about or (start, end)
        self._write = write
        self._written: tuple[Edit, ...] | None = None

    @property
    def text(self) -> str:
        """Return the text that replaces all of `start:end`."""
        raise NotImplementedError("use `written`: there may be several edits")

    def __eq__(self, other: object) -> bool:
        """Whether it inserts the same code at the same position; an edit without code only equals itself."""
        if not isinstance(other, DeferredEdit) or not self.code:
            return self is other
        return self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def _parts(self) -> tuple[object, ...]:
        return self.start, self.end, self._about, self.code, self.shared

    def written(self) -> tuple[Edit, ...]:
        """Return the edits with their texts."""
        if self._written is None:
            self._written = self._write()
        return tuple(edit.as_shared() for edit in self._written) if self.shared else self._written

    def as_shared(self) -> DeferredEdit:
        """Return a copy of the edit that several fixes may share."""
        return DeferredEdit(
            self.start,
            self.end,
            self.code,
            self.written,
            shared=True,
            about=self._about,
            deletes=self.deletes,
        )


class WrittenEdit(Edit):
    """An edit that LibCST has written: it needs no more parentheses, and a part of it that looks like an
    expression need not be one.
    """

    __slots__ = ()

    def plain(self) -> Edit:
        """Return it as an ordinary edit."""
        return Edit(self.start, self.end, self.text, shared=self.shared, owns=self.owns)


def is_deferred(edits: Iterable[Edit]) -> bool:
    """Whether one of the edits is not written yet."""
    return any(isinstance(edit, DeferredEdit) for edit in edits)


def written(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return the edits with their texts; raise `CannotWriteError` if one cannot be written."""
    found: list[Edit] = []
    for edit in edits:
        if isinstance(edit, DeferredEdit):
            found += (WrittenEdit(e.start, e.end, e.text, e.shared, e.owns) for e in edit.written())
        else:
            found.append(edit)
    return tuple(found)


def new_code(edit: Edit) -> str:
    """Return the new code in an edit, written or not."""
    return edit.code if isinstance(edit, DeferredEdit) else edit.text


def new_words(edits: Iterable[Edit]) -> set[str]:
    """Return the words of the new code in some edits: its names, keywords and numbers."""
    return {word for edit in edits for word in _WORD.findall(new_code(edit))}
