"""Comments that declare how often a function or loop runs: `# rlint: hot`, `# rlint: warm`, `# rlint:
cold`.
"""

from __future__ import annotations

from collections.abc import Iterator

from rlint.findings import Heat
from rlint.regex import regex
from rlint.suppression.comments import Span, read_layout

LEVELS = {"hot": Heat.HOT, "warm": Heat.WARM, "cold": Heat.COLD}
_COMMENT = regex(r"(?i)(?<![`'\"])#\s*rlint\s*:\s*(hot|warm|cold)\b")


def read(text: str) -> Iterator[tuple[Heat, Span]]:
    """Yield the declarations in the comments of a text, each with the lines of the statement, or of the
    header of the compound one, that contains it or is directly below it.
    """
    if "rlint" not in text.lower() or _COMMENT.search(text) is None:
        return
    layout = read_layout(text)
    for comment in layout.comments if layout is not None else ():
        found = _COMMENT.search(comment.text)
        if found is not None:
            span = comment.inside or (comment.above if found.start() == 0 else None)
            if span is not None:
                yield LEVELS[found[1].lower()], span
