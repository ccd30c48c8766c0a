"""The comments in changed code: none may get lost that the fix does not own."""

from __future__ import annotations

import io
import tokenize
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from rlint.edit.changed_statements import Piece
from rlint.regex import regex

_LONE_RETURN = regex(r"\r(?!\n)")


def lost_comment(pieces: Sequence[Piece], text: str) -> str | None:
    """Return a comment that is in the old lines of the pieces, and neither in the new ones nor owned by an
    edit; None where there is none.
    """
    before, after = Counter[str](), Counter[str]()
    for piece in pieces:
        if "#" in text[piece.start : piece.end]:
            before.update(comments(replace(piece, edits=()).rendered(text)))
    if not before:
        return None
    for piece in pieces:
        after.update(comments(piece.rendered(text)))
        for edit in piece.edits:
            after.update(edit.owns)
    return next(iter(before - after), None)


def comments(lines: str) -> list[str]:
    """Return the comments in whole lines of a program, each from its `#` on."""
    if "#" not in lines:
        return []
    found: list[str] = []
    # a header above: the lines may be indented; a lone return ends a line for Python alone
    text = "if 1:\n" + _LONE_RETURN.sub("\n", lines)
    # lines that are less indented than the first end it with an error
    with suppress(tokenize.TokenError, SyntaxError):
        found.extend(
            token.string.rstrip()
            for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline)
            if token.type == tokenize.COMMENT
        )
    return found
