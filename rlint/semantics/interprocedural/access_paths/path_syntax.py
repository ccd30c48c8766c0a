"""The syntax of access paths: a dotted name, then calls, items, attributes and parameters of functions."""

from __future__ import annotations

from functools import lru_cache

from rlint.regex import regex

_STEP = regex(r"\(\)|\[(?:[:?]|-?\d+|'\w+')?\]|@\*?\w+|\.\w+")
_NO_ATTRIBUTE = regex(r"\(\)|\[(?:[:?]|-?\d+|'\w+')?\]|@\*?\w+")


@lru_cache(maxsize=50_000)
def split_path(path: str) -> tuple[str, tuple[str, ...]]:
    """Return the dotted name at the beginning of an access path, and the remaining steps."""
    first = _NO_ATTRIBUTE.search(path)
    return (path[: first.start()], tuple(_STEP.findall(path, first.start()))) if first else (path, ())


def shown_container(path: str) -> str:
    """Return an access path that reads an item, without the last part, in the form of a Python expression."""
    return path.replace("[?]", "[…]").rpartition("().")[2].rpartition(".")[0] or path
