"""Texts of differing values in reports: short, and with the difference visible."""

from __future__ import annotations

import re
import tempfile

LONGEST = 80
"""Maximum number of characters of a value in a report."""
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}\b")


def name_of(found: type) -> str:
    """Return the qualified name of a class; without its module, if that is `builtins`."""
    module = found.__module__
    return found.__qualname__ if module == "builtins" else f"{module}.{found.__qualname__}"


def settled(text: str) -> str:
    """Return the text without parts that always differ between runs: addresses, names of temporary files."""
    text = _ADDRESS.sub("0x…", text)
    folder = re.escape(tempfile.gettempdir())
    return re.sub(rf"{folder}[/\\][^/\\\s'\"]+", "<temporary>", text)


def shortened(text: str) -> str:
    """Return the beginning of a text, if it is long."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def around(before: str, after: str) -> tuple[str, str]:
    """Return both texts as literals, cut to the neighbourhood of the first character that differs."""
    pairs = zip(before, after, strict=False)  # one may be a prefix of the other
    first = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))
    start = max(0, first - LONGEST // 4) if max(len(before), len(after)) > LONGEST else 0
    return _literal(before, start), _literal(after, start)


def _literal(text: str, start: int) -> str:
    end = start + LONGEST
    return f"{'…' if start else ''}{text[start:end]!r}{'…' if end < len(text) else ''}"


def count(number: int, noun: str) -> str:
    """Return a number and its noun: `1 item`, `2 items`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
