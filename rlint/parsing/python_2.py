"""Recognise programs for Python 2 by the syntax errors that they cause."""

from __future__ import annotations

import re

from rlint.parsing.positions import Positions
from rlint.regex import regex

_MESSAGE = regex(
    r"Missing parentheses in call to|multiple exception types must be parenthesized"
    r"|leading zeros in decimal|invalid hexadecimal|inconsistent use of tabs"
)
_STRING = regex(r"(?i)\b(?P<prefix>u?r?b?)(?P<quote>'''|\"\"\"|'|\")(?:\\.|(?!(?P=quote)).)*(?P=quote)|#.*")
_STATEMENT = regex(
    r"print(?:\s+[^\s(=.,:)\]]|\s*>>|\s*$)|exec\s+[^\s(=.,:)\]]"  # print x, print >>out, exec code
    r"|except\b[^:(]+,\s*\w+\s*:|raise\s+[\w.]+\s*,"
)
_EXPRESSION = regex(
    r"`|<>|(?<![\w.])0[0-7]+[lL]?\b|\b\d+[lL]\b|(?i:\bur)(?=['\"])|\bdef\s+\w+\s*\((?:[^:=()]*,)?\s*\("
)


def is_python_2(text: str, error: SyntaxError) -> bool:
    """Whether a text, which Python 3 cannot parse, is Python 2, judging by the line with the error."""
    if _MESSAGE.search(error.msg or ""):
        return True
    positions = Positions(text)
    if not error.lineno or error.lineno > len(positions.starts):
        return False
    line = _STRING.sub(_emptied, positions.line_text(error.lineno)).strip()
    statements = (line, *line.split(":", 1)[1:])  # the second after a header
    if any(_STATEMENT.match(statement.strip()) for statement in statements):
        return True
    return _EXPRESSION.search(line) is not None


def _emptied(string: re.Match[str]) -> str:
    """Return a string without its content, nothing for a comment."""
    quote = string["quote"] or ""
    return f"{string['prefix'] or ''}{quote}{quote}"
