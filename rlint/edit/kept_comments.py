"""Comments in changed code: a fix may only remove its own. A comment that a fix would remove by reformatting
an expression is moved above the statement.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from operator import itemgetter

from rlint.edit.changed_statements import Piece
from rlint.edit.source_text import SourceText
from rlint.findings import Edit
from rlint.regex import regex
from rlint.syntax.syntax_index import SyntaxIndex

_OF_ITS_LINE = regex(
    r"#\s*(?:noqa|nosec|type:|pragma|pylint|pyright|mypy|ruff|flake8|isort|fmt:|yapf|rlint)", re.IGNORECASE
)
"""Comments that are directives for the line that they are on, and mean nothing on another."""
_LONE_RETURN = regex(r"\r(?!\n)")


def lost_comments(pieces: Sequence[Piece], text: str) -> Counter[str]:
    """Count the comments that are in the old lines of the pieces, and neither in the new ones nor owned by an
    edit.
    """
    before, after = Counter[str](), Counter[str]()
    for piece in pieces:
        if "#" in text[piece.start : piece.end]:
            before.update(comments(replace(piece, edits=()).rendered(text)))
    if not before:
        return before
    for piece in pieces:
        after.update(comments(piece.rendered(text)))
        for edit in piece.edits:
            after.update(edit.owns)
    return before - after


def has_comment_of_its_line(lines: str) -> bool:
    """Whether some lines may contain a comment that means nothing on other lines."""
    return _OF_ITS_LINE.search(lines) is not None


def comments_above(lost: Counter[str], edits: Sequence[Edit], syntax: SyntaxIndex) -> list[Edit] | None:
    """Return insertions that move comments, which some edits would remove, above their statements; None if
    such a statement is deleted, or a comment would have no meaning there.
    """
    source = SourceText(syntax)
    left, found = Counter(lost), list[Edit]()
    for edit in edits:
        for comment in source.comments(edit.start, edit.end):
            if not left[comment]:
                continue
            place = None if _OF_ITS_LINE.match(comment) else _line_above(edit, source)
            if place is None:
                return None
            left[comment] -= 1
            start, indentation = place
            text = f"{indentation}{comment}{syntax.positions.newline}"
            if found and found[-1].start == start:
                found[-1] = Edit(start, start, found[-1].text + text)
            else:
                found.append(Edit(start, start, text))
    return None if +left else found


def _line_above(edit: Edit, source: SourceText) -> tuple[int, str] | None:
    """Return the start and the indentation of the statement that an edit changes: the one that it replaces,
    or else the smallest around it. None if nothing is left of that statement.
    """
    syntax = source.syntax
    statement = _statement_of(edit, source)
    while isinstance(statement, ast.stmt):
        first = source.first_line(statement)
        start, begins = syntax.positions.line_start(first), source.span(statement)[0]
        is_first = first < statement.lineno or not syntax.text[start:begins].strip()
        is_continued = first > 1 and syntax.positions.line_text(first - 1).rstrip().endswith("\\")
        if is_first and not is_continued:
            return start, source.indentation(statement)
        neighbours = source.statements_sharing_lines(statement)
        statement = neighbours[0] if neighbours is not None and neighbours[0] is not statement else None
    return None


def _statement_of(edit: Edit, source: SourceText) -> ast.AST | None:
    inside = source.syntax.statement_in(edit.start, edit.end)
    if inside is not None and source.span(inside)[1] <= edit.end:
        return inside if edit.text.strip() not in ("", "pass") else None  # it is replaced, or deleted
    found: list[tuple[int, ast.stmt]] = []
    for offset in (edit.start, edit.end):
        around = source.syntax.expression_before(offset)
        while around is not None:
            if isinstance(around, ast.stmt):
                start, end = source.span(around)
                start = min(start, source.syntax.positions.line_start(source.first_line(around)))
                if start <= edit.start and edit.end <= end:
                    found.append((end - start, around))
                    break
            around = source.syntax.parents.get(around)
    return min(found, key=itemgetter(0))[1] if found else None


def comments(lines: str) -> list[str]:
    """Return the comments in whole lines of a program, each from its `#` on."""
    if "#" not in lines:
        return []
    found: list[str] = []
    # preceded by a header: the lines may be indented; a lone carriage return ends a line only for Python
    text = "if 1:\n" + _LONE_RETURN.sub("\n", lines)
    # lines that are less indented than the first end it with an error
    with suppress(tokenize.TokenError, SyntaxError):
        found.extend(
            token.string.rstrip()
            for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline)
            if token.type == tokenize.COMMENT
        )
    return found
