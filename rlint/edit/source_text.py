"""The text of one file, accessed by nodes: spans, comments, headers, indentation."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_left
from functools import cached_property

from rlint.edit.own_comments import own_comment
from rlint.regex import regex
from rlint.syntax.syntax_index import FUNCTIONS, SyntaxIndex

_LONG_STRING = regex(r"[a-zA-Z]{0,2}(\"\"\"|''')(?:(?!\1).)*\1", re.DOTALL)
"""A string in triple quotes that does not contain those quotes."""
_LINE_END = regex(r"\r\n|\r|\n")
_BEFORE_DOT = regex(r"(?:(?:\s|\\|#[^\r\n]*)*\))+")
"""The closing parentheses around an expression, with the text allowed between them."""
_COMPOUND = (
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.If,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.Match,
    ast.ClassDef,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ExceptHandler,
    ast.match_case,
)


class SourceText:
    """Provides access to the source text of one file by nodes."""

    def __init__(self, syntax: SyntaxIndex) -> None:
        self.syntax = syntax

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return start and end offset of a node, without surrounding parentheses."""
        return self.syntax.positions.span(node)

    def text(self, node: ast.AST) -> str:
        """Return the source text of a node, as it is in the file."""
        start, end = self.span(node)
        return self.syntax.text[start:end]

    def has_comment(self, start: int, end: int) -> bool:
        """Whether a comment starts between two offsets."""
        return "#" in self.syntax.text[start:end] and any(start <= offset < end for offset in self._comments)

    def comments(self, start: int, end: int) -> list[str]:
        """Return the comments that start between two offsets, each from its `#` to the end of its line."""
        text = self.syntax.text
        found = (offset for offset in self._comments if start <= offset < end)
        return [text[offset:].partition("\n")[0].rstrip() for offset in found]

    @cached_property
    def _comments(self) -> list[int]:
        """Return the offsets of comments: each `#` outside of strings. Tokenizing would dominate the time for
        most files.
        """
        offsets = [match.start() for match in re.finditer("#", self.syntax.text)]
        if not offsets:
            return []
        text = self.syntax.text
        constants = self.syntax.of_type(ast.Constant)
        strings = [self.span(node) for node in constants if isinstance(node.value, (str, bytes))]
        strings += [self.span(node) for node in self.syntax.of_type(ast.JoinedStr)]
        inside: set[int] = set()
        for start, end in strings:
            within = offsets[bisect_left(offsets, start) : bisect_left(offsets, end)]
            if within and "\n" in text[start:end] and not _LONG_STRING.fullmatch(text, start, end):
                return self._tokenized_comments()  # adjacent strings, with comments between them
            inside.update(within)
        # a comment extends to the end of its line, whatever characters it contains
        found: list[int] = []
        for offset in offsets:
            if offset not in inside and (not found or _LINE_END.search(text, found[-1], offset)):
                found.append(offset)
        return found

    def _tokenized_comments(self) -> list[int]:
        text, positions = self.syntax.text, self.syntax.positions
        found: list[int] = []
        try:
            found.extend(
                positions.line_start(token.start[0]) + token.start[1]
                for token in tokenize.generate_tokens(io.StringIO(self.syntax.mask, newline="").readline)
                if token.type == tokenize.COMMENT
            )
        except (tokenize.TokenError, SyntaxError):
            # the tree parsed, so this is a quirk of the tokeniser: treat every `#` as a comment
            return [match.start() for match in re.finditer("#", text)]
        return found

    def header_span(self, node: ast.AST) -> tuple[int, int]:
        """Return the span of a node, or of the header of a compound statement (decorators left out)."""
        if isinstance(node, ast.match_case):
            return self.span(node.pattern)
        if isinstance(node, ast.comprehension):
            return self.span(node.target)[0], self.span((node.iter, *node.ifs)[-1])[1]
        start, end = self.span(node)
        if isinstance(node, _COMPOUND):
            body = node.cases if isinstance(node, ast.Match) else node.body
            first = self.header_span(body[0])[0]
            if isinstance(body[0], (*FUNCTIONS, ast.ClassDef)) and body[0].decorator_list:
                first = self.span(body[0].decorator_list[0])[0]
            header = self.syntax.mask[start:first]
            colon = self._colon(header)
            end = start + colon if colon is not None else first
        return start, end

    def _colon(self, header: str) -> int | None:
        """Return the offset of the colon that ends a header (the last one outside of brackets)."""
        depth = 0
        found = None
        lines = header.splitlines(keepends=True)
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        try:
            for token in tokenize.generate_tokens(iter(lines).__next__):
                if token.type == tokenize.OP:
                    if token.string in "([{":
                        depth += 1
                    elif token.string in ")]}":
                        depth -= 1
                    elif token.string == ":" and depth == 0:
                        found = starts[token.start[0] - 1] + token.start[1]
        except (tokenize.TokenError, SyntaxError, StopIteration):
            pass
        return found

    def indentation(self, statement: ast.stmt) -> str:
        """Return the white space before a statement's line."""
        line = self.syntax.positions.line_text(statement.lineno)
        return line[: len(line) - len(line.lstrip())]

    def stands_alone(self, statement: ast.stmt) -> bool:
        """Whether the statement has its lines to itself: no code before it, no `;`, no statement after it, no
        backslash before it, no `elif`.
        """
        positions, text = self.syntax.positions, self.syntax.text
        start, end = self.span(statement)
        first = self.first_line(statement)
        if first == statement.lineno and text[positions.line_start(statement.lineno) : start].strip():
            return False
        if text.startswith("elif", start) and isinstance(statement, ast.If):
            return False
        if first > 1 and positions.line_text(first - 1).rstrip().endswith("\\"):
            return False
        rest = text[end : positions.line_end(statement.end_lineno or statement.lineno)].strip()
        return not rest or rest.startswith("#")

    def statements_sharing_lines(self, statement: ast.stmt) -> tuple[ast.stmt, ast.stmt] | None:
        """Return the first and the last of the smallest run of statements that contains one and shares no
        lines with others: its neighbours, or an enclosing statement. None for an `elif`.
        """
        syntax, text = self.syntax, self.syntax.text
        around: ast.AST | None = statement
        while isinstance(around, ast.stmt):
            block, first = syntax.block(around)
            last = first
            while first > 0 and self._touch(block[first - 1], block[first]):
                first -= 1
            while last + 1 < len(block) and self._touch(block[last], block[last + 1]):
                last += 1
            number, start = self.first_line(block[first]), self.span(block[first])[0]
            is_first = (
                number < block[first].lineno or not text[syntax.positions.line_start(number) : start].strip()
            )
            is_continued = number > 1 and self._is_continued(number - 1)
            is_elif = isinstance(block[first], ast.If) and text.startswith("elif", start)
            if is_first and not is_continued and not is_elif:
                return block[first], block[last]
            if is_elif and around is statement:
                return None
            around = syntax.parents.get(around)
            while around is not None and not isinstance(around, (ast.stmt, ast.Module)):
                around = syntax.parents.get(around)
        return None

    def _touch(self, first: ast.stmt, second: ast.stmt) -> bool:
        """Whether the second of two statements begins on the last line of the first."""
        line, end = self.first_line(second), first.end_lineno or first.lineno
        return line <= end or (line == end + 1 and self._is_continued(end))

    def _is_continued(self, line: int) -> bool:
        return self.syntax.positions.line_text(line).rstrip().endswith("\\")

    def indent_unit(self, statement: ast.stmt) -> str:
        """Return one level of indentation, as used around a statement or, at module level, below it."""
        base = self.indentation(statement)
        around = self.syntax.parents.get(statement)
        while around is not None and not isinstance(around, (ast.stmt, ast.Module)):
            around = self.syntax.parents.get(around)
        outer = self.indentation(around) if isinstance(around, ast.stmt) else ""
        found = base.removeprefix(outer) if base.startswith(outer) else ""
        if not found and not base:
            blocks = (getattr(node, "body", None) for node in self.syntax.module.body)
            inner = (body[0] for body in blocks if isinstance(body, list) and body)
            found = next(filter(None, map(self.indentation, inner)), "")
        return found or ("\t" if base.startswith("\t") else "    ")

    def first_line(self, statement: ast.stmt) -> int:
        """Return the line on which a statement begins, including its decorators."""
        decorators = getattr(statement, "decorator_list", None)
        return (
            min(statement.lineno, *(node.lineno for node in decorators)) if decorators else statement.lineno
        )

    def trailing_comment(self, statement: ast.stmt) -> str:
        """Return the comment on the last line of a statement, with two blanks before it, to move with the
        statement; "" if there is none, or other code is on that line.
        """
        if not self.stands_alone(statement):
            return ""
        end = self.syntax.positions.line_end(statement.end_lineno or statement.lineno)
        rest = self.syntax.text[self.span(statement)[1] : end].strip()
        return f"  {rest}" if rest else ""

    def own_comment(self, statement: ast.stmt) -> list[str]:
        """Return the lines of comment above a statement that belong to it alone."""
        return own_comment(statement, self.syntax)

    def grouped_span(self, node: ast.expr) -> tuple[int, int]:
        """Return start and end offset of an operand or argument, with surrounding parentheses."""
        text, around = self.syntax.text, self.syntax.parents.get(node)
        start, end = self.span(node)
        outermost = self.span(around)[1] if isinstance(around, ast.Call) else -1
        while True:
            before, following = text[:start].rstrip(), text[end:].lstrip()
            wider = len(text) - len(following) + 1
            if not (before.endswith("(") and following.startswith(")")) or wider == outermost:
                return start, end  # the remaining parentheses are those of the call
            start, end = len(before) - 1, wider

    def receiver_end(self, method: ast.Attribute) -> int:
        """Return the end offset of a method's receiver, before the dot, including surrounding parentheses."""
        start, end = self.span(method.value)[1], self.span(method)[1]
        closing = _BEFORE_DOT.match(self.syntax.text, start, end)
        return closing.end() if closing is not None else start
