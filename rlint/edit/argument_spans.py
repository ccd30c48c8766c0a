"""Where the arguments of a call stand in its text."""

from __future__ import annotations

import io
import tokenize

from rlint.regex import regex
from rlint.syntax.positions import Positions

_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_LONE_RETURN = regex(r"\r(?!\n)")
_BLANK = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)


def argument_spans(text: str) -> list[tuple[int, int]] | None:
    """The spans of the arguments in the parenthesised list `text`, keywords and parentheses included.

    None where `text` is no such list: it begins otherwise, or has something behind its end.
    """
    text = _LONE_RETURN.sub("\n", text)  # which ends a line for Python, and not for its tokenizer
    positions = Positions(text)
    found: list[tuple[int, int]] = []
    depth, first, behind = 0, -1, -1
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type in _BLANK:
                continue
            symbol = token.string if token.type == tokenize.OP else ""
            depth += (symbol in _OPENING) - (symbol in _CLOSING)
            if depth == 0:
                if first >= 0:
                    found.append((first, behind))
                return found if symbol == ")" and not text[_offset(positions, token.end) :].strip() else None
            if depth == 1 and symbol == ",":
                found.append((first, behind))
                first = -1
            elif not (depth == 1 and symbol == "(" and behind < 0):
                first = _offset(positions, token.start) if first < 0 else first
            behind = _offset(positions, token.end)
    except (tokenize.TokenError, SyntaxError):
        pass
    return None


def _offset(positions: Positions, place: tuple[int, int]) -> int:
    return positions.line_start(place[0]) + place[1]
