"""Comments and logical lines of a Python text, by tokenising it: never inside a string."""

from __future__ import annotations

import tokenize
from bisect import bisect_right
from typing import TYPE_CHECKING

from rlint.frozen import frozen
from rlint.parsing.grammar import NEWEST
from rlint.parsing.positions import Positions

if TYPE_CHECKING:
    from collections.abc import Iterator

_LAYOUT_TOKENS = frozenset(
    {
        tokenize.NL,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
        tokenize.ERRORTOKEN,
    }
)
# Python 3.12 and 3.14 yield the parts of f-strings and t-strings as separate tokens.
_OPENERS = frozenset(
    code for name in ("FSTRING_START", "TSTRING_START") if (code := getattr(tokenize, name, None)) is not None
)
_CLOSERS = frozenset(
    code for name in ("FSTRING_END", "TSTRING_END") if (code := getattr(tokenize, name, None)) is not None
)


@frozen
class Span:
    """First and last line of a span, both counted from 1."""

    first: int
    last: int


@frozen
class Comment:
    """One comment. `inside` is the logical line it is part of, `above` the one directly below it."""

    text: str
    line: int
    start: int
    """Offset of the `#`."""
    column: int
    """Counted from 1."""
    own_line: bool
    inside: Span | None
    above: Span | None = None

    @property
    def end(self) -> int:
        """Offset after the comment's last character."""
        return self.start + len(self.text)


@frozen
class Layout:
    """Comments and logical lines of a text, and the lines to which no comment can be added."""

    positions: Positions
    comments: tuple[Comment, ...]
    statements: tuple[Span, ...]
    closed: frozenset[int]

    def statement_at(self, line: int) -> Span | None:
        """Return the logical line that `line` is part of."""
        index = bisect_right(self.statements, line, key=lambda span: span.first) - 1
        if index >= 0 and line <= self.statements[index].last:
            return self.statements[index]
        return None


def read_layout(text: str) -> Layout | None:
    """Tokenise `text`; return None if that fails."""
    try:
        return _Reader(Positions(text)).read()
    except (tokenize.TokenError, SyntaxError):
        return None


class _Reader:
    def __init__(self, positions: Positions) -> None:
        self._positions = positions
        self._comments: list[Comment] = []
        self._statements: list[Span] = []
        self._decorators: set[int] = set()  # indices of statements that are decorators
        self._closed: set[int] = set()

    def read(self) -> Layout:
        first: int | None = None
        pending: list[tokenize.TokenInfo] = []  # comments of the logical line being read
        open_strings: list[int] = []
        for token in self._tokens():
            row = token.start[0]
            if token.type == tokenize.COMMENT:
                pending.append(token)
            elif token.type == tokenize.NEWLINE:
                span = Span(row if first is None else first, row)
                self._statements.append(span)
                self._flush(pending, span)
                first = None
            elif token.type in _LAYOUT_TOKENS:
                if first is None:
                    self._flush(pending, None)
            else:
                if first is None:
                    first = row
                    if token.string == "@":
                        self._decorators.add(len(self._statements))
                if token.type == tokenize.STRING:
                    self._closed.update(range(row, token.end[0]))
                elif token.type in _OPENERS:
                    open_strings.append(row)
                elif token.type in _CLOSERS:
                    self._closed.update(range(open_strings.pop(), token.end[0]))
        self._flush(pending, None)
        self._close_continued_lines()
        statements = tuple(self._statements)
        return Layout(self._positions, tuple(self._look_below()), statements, frozenset(self._closed))

    def _tokens(self) -> Iterator[tokenize.TokenInfo]:
        # With one kind of line end, including the last line, the tokenizers of all Python versions agree.
        mask = Positions(NEWEST.mask(self._positions.text))
        numbers = iter(range(1, len(mask.starts) + 1))
        return tokenize.generate_tokens(lambda: mask.line_text(next(numbers)) + "\n")

    def _flush(self, tokens: list[tokenize.TokenInfo], inside: Span | None) -> None:
        for token in tokens:
            line, column = token.start
            own_line = not self._positions.line_text(line)[:column].strip()
            start = self._positions.line_start(line) + column
            self._comments.append(Comment(token.string.rstrip(), line, start, column + 1, own_line, inside))
        tokens.clear()

    def _close_continued_lines(self) -> None:
        commented = {comment.line for comment in self._comments}
        for span in self._statements:
            for line in range(span.first, span.last):
                if line not in commented and self._positions.line_text(line).endswith("\\"):
                    self._closed.add(line)

    def _look_below(self) -> Iterator[Comment]:
        starts = {span.first: index for index, span in enumerate(self._statements)}
        alone = {comment.line for comment in self._comments if comment.inside is None}
        for comment in self._comments:
            if comment.inside is not None:
                yield comment
                continue
            line = comment.line + 1
            while line in alone:
                line += 1
            index = last = starts.get(line)
            if index is None or last is None:
                yield comment
                continue
            while last in self._decorators and last + 1 < len(self._statements):
                last += 1
            above = Span(line, self._statements[last].last)
            yield Comment(
                comment.text, comment.line, comment.start, comment.column, comment.own_line, None, above
            )
