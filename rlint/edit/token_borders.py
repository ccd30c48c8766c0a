"""Borders between edits and the text around them: no two tokens may be joined."""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Sequence
from dataclasses import replace

from rlint.findings import Edit
from rlint.parsing.positions import Positions
from rlint.regex import regex

_WORDS = frozenset(keyword.kwlist) | (frozenset(keyword.softkwlist) - {"_"})
_LAST_WORD = regex(r"\w*\Z")
_FIRST_WORD = regex(r"\w*")
_INTEGER = regex(r"\d[\d_]*")
_STRING_PREFIX = regex(r"(?i)(b|r|u|f|t|br|rb|fr|rf|tr|rt)")
_OPERATORS = frozenset("** // << >> <= >= == != += -= *= /= %= &= |= ^= @= -> :=".split())
_NEAR = 80
"""Number of characters around a border that determine whether it is between tokens."""


def separated(edits: Sequence[Edit], text: str, mask: str | None = None) -> tuple[Edit, ...]:
    """Return the edits of one fix with a blank wherever one of them would join two tokens: the `return` of
    `return[a.item() for a in acts]` and the name that replaces the list. `mask` is the text as parsed by the
    running Python.
    """
    found = sorted(edits, key=lambda edit: (edit.start, edit.end))
    for number, edit in enumerate(found):
        before = found[number - 1].end if number else 0
        left = text[max(before, edit.start - _NEAR) : edit.start]
        if number and edit.start - before < _NEAR:
            left = found[number - 1].text[-_NEAR:] + left
        succeeding = found[number + 1].start if number + 1 < len(found) else len(text)
        right = text[edit.end : min(succeeding, edit.end + _NEAR)]
        made = edit.text
        begins_within = _cuts(text, edit.start) or (not made and _cuts(text, edit.end))
        if not begins_within and _joins(left, made or right):
            made = f" {made}"
        if made.strip() and _joins(made, right) and not _cuts(text, edit.end):
            made = f"{made} "
        if made != edit.text and not _is_in_token(mask or text, edit):
            found[number] = replace(edit, text=made)
    return tuple(found)


def _joins(left: str, right: str) -> bool:
    """Whether the last token of one text and the first of another would be joined."""
    if not left or not right:
        return False
    last, first = left[-1], right[0]
    word = _LAST_WORD.search(left)
    assert word is not None
    known, is_attribute = word.group(), left[: word.start()].endswith(".")
    if first.isalnum() or first == "_":
        following = _FIRST_WORD.match(right)
        assert following is not None
        if not known:
            return last == "." and first.isdigit()
        is_word = known in _WORDS and not is_attribute
        return is_word or known[0].isdigit() or following.group() in _WORDS
    if known:
        if first in "'\"":
            return _STRING_PREFIX.fullmatch(known) is not None
        return first == "." and _INTEGER.fullmatch(known) is not None and not is_attribute
    return last + first in _OPERATORS


def _cuts(text: str, offset: int) -> bool:
    """Whether a position of the old text is within a token, as where an edit changes the end of a word."""
    return _joins_as_written(text[max(0, offset - _NEAR) : offset], text[offset : offset + _NEAR])


def _joins_as_written(left: str, right: str) -> bool:
    if not left or not right:
        return False
    last, first = left[-1], right[0]
    if (last.isalnum() or last == "_") and (first.isalnum() or first == "_"):
        word = _LAST_WORD.search(left)
        following = _FIRST_WORD.match(right)
        assert word is not None
        assert following is not None
        # `1if` are two tokens
        return not (_INTEGER.fullmatch(word.group()) and following.group() in _WORDS)
    return last + first in _OPERATORS


def _is_in_token(text: str, edit: Edit) -> bool:
    """Whether an edit begins or ends within a string or a comment. Called rarely: it reads all tokens."""
    positions = Positions(text)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type in (tokenize.STRING, tokenize.COMMENT):
                start = positions.line_start(token.start[0]) + token.start[1]
                end = positions.line_start(token.end[0]) + token.end[1]
                if start < edit.start < end or start < edit.end < end:
                    return True
    except (tokenize.TokenError, SyntaxError):
        return True
    return False
