"""Parse programs from before Python 3.7, which use `async` as a name: `x.cuda(async=True)`."""

from __future__ import annotations

import ast
import io
import string
import tokenize

NAME = "async"
_OPENED = frozenset({"def", "for", "with"})
"""Text after `async` that shows that it is not a name."""


def stand_in_for(text: str) -> str | None:
    """Return an identifier of the same length as `async` that does not occur in the text; None if no place of
    the text uses `async` as a name.
    """
    if NAME not in text or not any(_places(text)):
        return None
    candidates = (f"{NAME[:-1]}{letter}" for letter in f"_{string.ascii_letters}")
    return next((each for each in candidates if each not in text), None)


def masked(text: str, stand_in: str) -> str:
    """Return the text with `stand_in` where it uses `async` as a name."""
    lines = list(io.StringIO(text, newline=""))
    for line, column in reversed(list(_places(text))):
        kept = lines[line - 1]
        lines[line - 1] = kept[:column] + stand_in + kept[column + len(NAME) :]
    return "".join(lines)


def restore(module: ast.Module, stand_in: str) -> None:
    """Put the name back into the tree of a masked text."""
    for node in ast.walk(module):
        for name, value in ast.iter_fields(node):
            if isinstance(value, str) and not isinstance(node, ast.Constant):
                setattr(node, name, value.replace(stand_in, NAME))
            elif isinstance(value, list):
                value[:] = [each.replace(stand_in, NAME) if isinstance(each, str) else each for each in value]


def _places(text: str) -> list[tuple[int, int]]:
    """Return the line, from 1, and the column of each `async` that is a name."""
    found: list[tuple[int, int]] = []
    waiting: tuple[int, int] | None = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if waiting is not None and token.string not in _OPENED:
                found.append(waiting)
            is_name = token.type == tokenize.NAME and token.string == NAME
            waiting = token.start if is_name else None
    except (tokenize.TokenError, SyntaxError):  # an inconsistent indentation, or an open bracket
        return []
    return found
