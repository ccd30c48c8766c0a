"""Errors that stop rlint before it has read any code, and suggestions of similar names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class RlintError(Exception):
    """An error in options, settings or rules. The message says what, where, and what to do."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most similar to `name`, or None if there is none."""
    import difflib

    folded = {candidate.casefold(): candidate for candidate in known}
    found = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the tail of an error message: "; did you mean `select`?", or nothing."""
    close = nearest(name, known)
    return f"; did you mean `{close}`?" if close else ""
