"""The grammars for parsing texts: that of the running Python and, for text that it refuses, the newest that
LibCST knows, or that of Python 3.6, where `async` is a name. LibCST is imported when a file needs it, which
takes longer than checking a file.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
import warnings
from collections.abc import Iterator

from rlint.frozen import frozen
from rlint.parsing import old_names
from rlint.regex import regex

_STACK = 256 * 1024 * 1024
_DEEPEST = 20_000
"""LibCST recurses into expressions, by calls of its own and of Python's."""

_SIGNS = [
    *([r"except\s*\*", r"[\[,:]\s*\*"] if sys.version_info < (3, 11) else ()),
    *([r"\b(?:[fF][rR]?|[rR][fF])['\"]"] if sys.version_info < (3, 12) else ()),
    *([r"\b(?:def|class)[\s\\]+\w+[\s\\]*\[", r"\btype[\s\\]+\w"] if sys.version_info < (3, 13) else ()),
    *([r"\bexcept\b[^:\n]*,", r"\b(?:[tT][rR]?|[rR][tT])['\"]"] if sys.version_info < (3, 14) else ()),
]
_NEWER = regex("|".join(_SIGNS)) if _SIGNS else None
"""Text that occurs if a newer Python may be needed."""
_LINE_END = regex(r"\r\n|\r|\n")
_TOKEN = regex(r"\w+|[^\w\s]")


@frozen
class Reading:
    """The syntax tree of a text."""

    module: ast.Module
    mask: str
    """The text for the running Python, with the same number of characters and lines."""
    grammar: Grammar
    """The grammar that parsed it."""
    cells: tuple[tuple[int, int], ...] = ()
    """In a marimo notebook, the spans of its cells, which are at module level in the tree."""


class Grammar:
    """Parses texts as the running Python does. Exceptions of `ast.parse` are raised here, too."""

    def read(self, text: str) -> Reading:
        """Return the tree of a text, with the mask."""
        return Reading(ast.parse(text), text, self)

    def parse(self, text: str) -> ast.Module:
        """Return the tree of a text."""
        return self.read(text).module

    def expression(self, text: str) -> ast.expr:
        """Return the tree of an expression."""
        return ast.parse(text, mode="eval").body

    def tokens(self, text: str) -> Iterator[tokenize.TokenInfo]:
        """Yield the tokens of a text."""
        return tokenize.generate_tokens(io.StringIO(text, newline="").readline)


class _NewestGrammar(Grammar):
    def read(self, text: str) -> Reading:
        try:
            return RUNNING.read(text)
        except SyntaxError as error:
            stand_in = old_names.stand_in_for(text)
            if stand_in is not None:
                return self._read_older(text, stand_in)
            if _NEWER is None or _NEWER.search(text) is None:
                raise
            return _read_newer(text, error)

    def _read_older(self, text: str, stand_in: str) -> Reading:
        """Parse a text that uses `async` as a name."""
        found = self.read(old_names.masked(text, stand_in))
        old_names.restore(found.module, stand_in)
        return Reading(found.module, found.mask, self)

    def expression(self, text: str) -> ast.expr:
        try:
            return super().expression(text)
        except SyntaxError:
            match self.parse(text).body:
                case [ast.Expr(value=value)]:
                    return value
            raise

    def tokens(self, text: str) -> Iterator[tokenize.TokenInfo]:
        return super().tokens(self.mask(text))

    def mask(self, text: str) -> str:
        """Return the text for the running Python; the text itself if nothing parses it, as a part of a
        program.
        """
        if old_names.NAME not in text and (_NEWER is None or _NEWER.search(text) is None):
            return text
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.read(text).mask
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return text

    def parse_as(self, old: str, new: str) -> ast.Module:
        """Return the tree of a text derived from another: if the running Python parses that, it has to parse
        this.
        """
        try:
            return RUNNING.parse(new)
        except SyntaxError:
            if self.read(old).grammar is RUNNING:
                raise
            return self.parse(new)


RUNNING = Grammar()
"""That of the running Python."""
NEWEST = _NewestGrammar()
"""All known syntax, of newer and older Pythons."""


def _read_newer(text: str, refused: SyntaxError) -> Reading:
    """Read a text that the running Python refuses. If no grammar parses it, the later of the errors is
    reported: the text before it is valid in one of them.
    """
    from rlint.parsing.constructs_of_text import Python2Error, UnreadableError

    try:
        return read_by_libcst(text)
    except UnreadableError as error:
        line, column = _last_token(text, error.line, error.column)
        if line > (refused.lineno or 0):
            raise SyntaxError("invalid syntax", (None, line, column, None)) from refused
        raise refused from None
    except (Python2Error, UnicodeError):
        raise refused from None


def _last_token(text: str, line: int, column: int) -> tuple[int, int]:
    """Return line and column, from 1, of the token before a place (column from 0): LibCST reports the start
    of the one after the error.
    """
    lines = _LINE_END.split(text)[:line]
    if lines and len(lines) == line:
        lines[-1] = lines[-1][:column]
    while lines and not lines[-1].strip():
        lines.pop()
    tokens = [found.start() for found in _TOKEN.finditer(lines[-1])] if lines else []
    return len(lines), tokens[-1] + 1 if tokens else 0


def read_by_libcst(text: str) -> Reading:
    """Parse a text by LibCST, in a thread with a large enough stack."""
    import threading

    found: list[Reading | Exception] = []

    def read() -> None:
        try:
            found.append(_masked(text))
        except Exception as error:  # noqa: BLE001 - it is raised by who waits for it
            found.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(_STACK)
    sys.setrecursionlimit(max(limit, _DEEPEST))
    try:
        thread = threading.Thread(target=read)
        thread.start()
    except RuntimeError:  # no memory for it
        read()
    else:
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    [result] = found
    if isinstance(result, Exception):
        raise result
    return result


def _masked(text: str) -> Reading:
    from rlint.parsing.constructs_of_text import constructs_of_text
    from rlint.parsing.masking import Masker, by_characters
    from rlint.parsing.restoring import Restorer

    source = text.encode()
    whole, comments = constructs_of_text(source)
    masks = Masker(source, comments)
    module = Restorer(source, masks, comments).module(whole)
    return Reading(module, by_characters(text, masks.masked(whole)), NEWEST)
