"""Comments that belong to one statement, and are deleted with it."""

from __future__ import annotations

import ast

from rlint.regex import regex
from rlint.syntax.syntax_index import SyntaxIndex

_WORD = regex(r"[A-Za-z]{3,}")
_FOR_OTHERS = regex(
    r"(?i)\b(todo|fixme|xxx|hack|noqa|nosec)\b|\b(pragma|pylint|rlint|ruff|mypy|fmt|isort|type):"
)
"""Comments for open tasks, and comments that other programs read."""
_STEM = 4
"""Length of a common prefix from which two words count as related: `pattern`, `patterns`."""


def own_comment(statement: ast.stmt, syntax: SyntaxIndex) -> list[str]:
    """Return the lines of comment directly above a statement that is followed by a blank line, if they share
    a word with it: "# Names to numbers" above `numbers = {...}`. None of them is an open task or for another
    program.
    """
    positions = syntax.positions
    block, index = syntax.block(statement)
    following = (statement.end_lineno or statement.lineno) + 1
    if index + 1 < len(block) and positions.line_text(following).strip():
        return []
    own = positions.line_text(statement.lineno)
    indentation = own[: len(own) - len(own.lstrip())]
    start, end = positions.span(statement)
    words = _words(syntax.text[start:end])
    found: list[str] = []
    line = statement.lineno - 1
    while line > 0:
        text = positions.line_text(line).rstrip()
        comment = text.removeprefix(indentation)
        is_own = comment.startswith("#") and _FOR_OTHERS.search(comment) is None
        if not is_own or not _are_similar(_words(comment), words):
            break
        found.insert(0, comment)
        line -= 1
    return found


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}


def _are_similar(some: set[str], others: set[str]) -> bool:
    stems = {word[: max(_STEM, len(word) - 1)] for word in others}
    return any(word[: max(_STEM, len(word) - 1)] in stems for word in some)
