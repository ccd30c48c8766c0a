"""Edits from nodes: replace, insert, delete, everything else left as it stands in the file."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_left
from collections.abc import Collection, Mapping
from functools import cached_property

from rlint.edit import call_arguments
from rlint.edit.argument_spans import argument_spans
from rlint.edit.own_comments import own_comment
from rlint.edit.reindent import reindented
from rlint.findings import Edit
from rlint.regex import regex
from rlint.syntax.syntax_index import FUNCTIONS, Tree

_LONG_STRING = regex(r"[a-zA-Z]{0,2}(\"\"\"|''')(?:(?!\1).)*\1", re.DOTALL)
"""One string in triple quotes that are nowhere else in it."""
_LINE_END = regex(r"\r\n|\r|\n")
_BEFORE_DOT = regex(r"(?:(?:\s|\\|#[^\r\n]*)*\))+")
"""The closing parentheses around an expression, with what may stand between them."""
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
_OPERATORS = (
    ast.BinOp,
    ast.BoolOp,
    ast.UnaryOp,
    ast.Compare,
    ast.IfExp,
    ast.Lambda,
    ast.NamedExpr,
    ast.Await,
    ast.Yield,
    ast.YieldFrom,
    ast.Starred,
    ast.Tuple,
    ast.GeneratorExp,
)


class Edits:
    """Builds the edits of fixes in one file.

    What cannot be done without harm (a statement that shares its line, an `elif`) gives None:
    the finding then goes without a fix.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    # -- reading the text ----------------------------------------------------------------------

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Start and end offset of a node; parentheses around it are not part of it."""
        return self.tree.positions.span(node)

    def text(self, node: ast.AST) -> str:
        """The source text of a node, as it stands in the file."""
        start, end = self.span(node)
        return self.tree.text[start:end]

    def operand(self, node: ast.expr) -> str:
        """The text of an expression fit to stand as an operand, argument or before a dot: in
        parentheses where it is made of operators or broken over lines outside of brackets.
        """
        text = self.text(node)
        if isinstance(node, _OPERATORS) and not (isinstance(node, ast.Tuple) and text.startswith("(")):
            return f"({text})"
        if "\n" in text and call_arguments.needs_parentheses(text):
            return f"({text})"
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, complex)):
            return f"({text})"
        return text

    def can_be_moved(self, node: ast.expr) -> bool:
        """Can the text of an expression be trusted and put elsewhere? Not from inside an f-string on
        Pythons that do not know where its parts stand, and not with a comment in it.
        """
        start, end = self.span(node)
        if self.has_comment(start, end):
            return False
        if not any(isinstance(ancestor, ast.JoinedStr) for ancestor in self.tree.ancestors(node)):
            return True
        try:
            parsed = ast.parse(f"({self.tree.text[start:end]})", mode="eval").body
        except (SyntaxError, ValueError):
            return False
        return ast.dump(parsed) == ast.dump(node)

    def has_comment(self, start: int, end: int) -> bool:
        """Does a comment start between two offsets?"""
        return "#" in self.tree.text[start:end] and any(start <= offset < end for offset in self._comments)

    def comments(self, start: int, end: int) -> list[str]:
        """The comments that start between two offsets, each from its `#` to the end of its line."""
        text = self.tree.text
        found = (offset for offset in self._comments if start <= offset < end)
        return [text[offset:].partition("\n")[0].rstrip() for offset in found]

    @cached_property
    def _comments(self) -> list[int]:
        """Where comments begin: at each `#` outside of strings. Tokenizing would take longer than all else
        that is done with most files.
        """
        offsets = [match.start() for match in re.finditer("#", self.tree.text)]
        if not offsets:
            return []
        text = self.tree.text
        constants = self.tree.of_type(ast.Constant)
        strings = [self.span(node) for node in constants if isinstance(node.value, (str, bytes))]
        strings += [self.span(node) for node in self.tree.of_type(ast.JoinedStr)]
        inside: set[int] = set()
        for start, end in strings:
            within = offsets[bisect_left(offsets, start) : bisect_left(offsets, end)]
            if within and "\n" in text[start:end] and not _LONG_STRING.fullmatch(text, start, end):
                return self._tokenized_comments()  # strings beside one another, comments between them
            inside.update(within)
        # a comment goes on to the end of its line, whatever signs are in it
        found: list[int] = []
        for offset in offsets:
            if offset not in inside and (not found or _LINE_END.search(text, found[-1], offset)):
                found.append(offset)
        return found

    def _tokenized_comments(self) -> list[int]:
        text, positions = self.tree.text, self.tree.positions
        found: list[int] = []
        try:
            found.extend(
                positions.line_start(token.start[0]) + token.start[1]
                for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline)
                if token.type == tokenize.COMMENT
            )
        except (tokenize.TokenError, SyntaxError):
            # the tree parsed, so this is a quirk of the tokeniser: call every `#` a comment
            return [match.start() for match in re.finditer("#", text)]
        return found

    def header_span(self, node: ast.AST) -> tuple[int, int]:
        """The span of a node, or of the header of a compound statement (decorators left out)."""
        if isinstance(node, ast.match_case):
            return self.span(node.pattern)
        start, end = self.span(node)
        if isinstance(node, _COMPOUND):
            body = node.cases if isinstance(node, ast.Match) else node.body
            first = self.header_span(body[0])[0]
            if isinstance(body[0], (*FUNCTIONS, ast.ClassDef)) and body[0].decorator_list:
                first = self.span(body[0].decorator_list[0])[0]
            header = self.tree.text[start:first]
            colon = self._colon(header)
            end = start + colon if colon is not None else first
        return start, end

    def _colon(self, header: str) -> int | None:
        """Where the colon that ends a header (the last one outside of brackets) stands in its text."""
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

    # -- statements ----------------------------------------------------------------------------

    def indentation(self, statement: ast.stmt) -> str:
        """The white space before a statement's line."""
        line = self.tree.positions.line_text(statement.lineno)
        return line[: len(line) - len(line.lstrip())]

    def stands_alone(self, statement: ast.stmt) -> bool:
        """Does the statement have its lines to itself: nothing before it, no `;`, no other statement behind
        it, no backslash into it, no `elif`?
        """
        positions, text = self.tree.positions, self.tree.text
        start, end = self.span(statement)
        first = self._first_line(statement)
        if first == statement.lineno and text[positions.line_start(statement.lineno) : start].strip():
            return False
        if text.startswith("elif", start) and isinstance(statement, ast.If):
            return False
        if first > 1 and positions.line_text(first - 1).rstrip().endswith("\\"):
            return False
        rest = text[end : positions.line_end(statement.end_lineno or statement.lineno)].strip()
        return not rest or rest.startswith("#")

    def _first_line(self, statement: ast.stmt) -> int:
        decorators = getattr(statement, "decorator_list", None)
        return (
            min(statement.lineno, *(node.lineno for node in decorators)) if decorators else statement.lineno
        )

    def insert_before(self, statement: ast.stmt, *lines: str) -> Edit | None:
        """Put lines of code (without indentation) before a statement, indented like it. What follows a line
        end within one of them is left as it is (see `moved`).
        """
        if not self.stands_alone(statement):
            return None
        start = self.tree.positions.line_start(self._first_line(statement))
        return Edit(start, start, self._block(lines, self.indentation(statement)))

    def insert_after(self, statement: ast.stmt, *lines: str) -> Edit | None:
        """Put lines of code (without indentation) behind a statement, indented like it."""
        if not self.stands_alone(statement):
            return None
        positions = self.tree.positions
        last = statement.end_lineno or statement.lineno
        start = positions.line_start(last + 1)
        block = self._block(lines, self.indentation(statement))
        if positions.line_end(last) == len(self.tree.text):  # no line end at the end of the file
            return Edit(start, start, positions.newline + block.removesuffix(positions.newline))
        return Edit(start, start, block)

    def replace_statement(self, statement: ast.stmt, *lines: str) -> Edit | None:
        """Replace a whole statement by lines of code, indented like it; a comment behind it stays."""
        if not self.stands_alone(statement):
            return None
        start, end = self.span(statement)
        block = self._block(lines, self.indentation(statement)).removesuffix(self.tree.positions.newline)
        return Edit(start, end, block[len(self.indentation(statement)) :])

    def delete(self, statement: ast.stmt, *, comment: bool = False) -> Edit | None:
        """Remove a statement and its lines, with the `comment` above that is about it alone, and with blank
        lines behind it that would be too many; `pass` takes its place where the block would be empty.
        """
        if not self.stands_alone(statement):
            return None
        block, index = self.tree.block(statement)
        if len(block) == 1:
            return Edit(*self.span(statement), "pass")
        positions = self.tree.positions
        first = self._first_line(statement) - (len(own_comment(statement, self.tree)) if comment else 0)
        behind = (statement.end_lineno or statement.lineno) + 1
        if index + 1 < len(block):
            behind += self._blank_lines_to_drop(first, behind, begins=index == 0)
        return Edit(positions.line_start(first), positions.line_start(behind), "")

    def _blank_lines_to_drop(self, first: int, behind: int, *, begins: bool) -> int:
        """How many of the blank lines from `behind` on are too many without the lines from `first` to there?
        The larger of two gaps stays, and a block begins with none.
        """
        positions = self.tree.positions
        before = after = 0
        while first - before > 1 and not positions.line_text(first - before - 1).strip():
            before += 1
        while not positions.line_text(behind + after).strip():
            after += 1
        above = positions.line_text(first - 1).lstrip() if first > 1 else ""
        if begins and above and not before and not above.startswith("#"):
            return after
        return min(before, after)

    def own_comment(self, statement: ast.stmt) -> list[str]:
        """The lines of comment above a statement that are about it alone."""
        return own_comment(statement, self.tree)

    def _block(self, lines: tuple[str, ...], indentation: str) -> str:
        newline = self.tree.positions.newline
        written = (_LINE_END.sub(newline, line) for line in lines)
        return "".join(f"{indentation}{line}{newline}" if line else newline for line in written)

    def moved(self, code: str, statement: ast.stmt, beside: ast.stmt | None) -> str | None:
        """Return the code of a statement, or of an expression in it, with its lines indented as they have to
        be beside another statement, or at module level. None where that changes what it means.
        """
        return reindented(
            code, self.indentation(statement), self.indentation(beside) if beside is not None else ""
        )

    # -- expressions ---------------------------------------------------------------------------

    def replace(self, node: ast.AST, text: str) -> Edit:
        """Replace an expression (or any node) by text."""
        return Edit(*self.span(node), text)

    def receiver_end(self, method: ast.Attribute) -> int:
        """Return where the expression before the dot of a method ends, the parentheses around it included."""
        start, end = self.span(method.value)[1], self.span(method)[1]
        closing = _BEFORE_DOT.match(self.tree.text, start, end)
        return closing.end() if closing is not None else start

    def with_keyword(self, call: ast.Call, name: str, value: str) -> Edit | None:
        """Give a call one more keyword argument; None where it has it already or cannot be rewritten."""
        return self.with_keywords(call, {name: value})

    def with_keywords(self, call: ast.Call, keywords: Mapping[str, str]) -> Edit | None:
        """Give a call more keyword arguments; None where it has one already or cannot be rewritten."""
        rewritten: str | None = self.text(call)
        for name, value in keywords.items():
            if rewritten is not None:
                rewritten = call_arguments.with_keyword(rewritten, name, value)
        return self.replace(call, rewritten) if rewritten is not None else None

    def argument_spans(self, call: ast.Call) -> dict[ast.expr, tuple[int, int]] | None:
        """Where the arguments of a call stand, in their order, each with its keyword and the parentheses
        around it; None where the text does not show that.
        """
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        given.sort(key=lambda argument: self.span(argument)[0])
        start, end = self.span(call.func)[1], self.span(call)[1]
        inside = argument_spans(self.tree.text[start:end])
        if inside is None or len(inside) != len(given):
            return None
        spans = [(start + first, start + behind) for first, behind in inside]
        return dict(zip(given, spans, strict=True))

    def without_arguments(self, call: ast.Call, dropped: Collection[ast.expr]) -> list[Edit] | None:
        """Take arguments out of a call, with their commas (and keywords); None where a comment would be
        lost, or the text does not show where the arguments are.
        """
        spans = self.argument_spans(call)
        if spans is None:
            return None
        given, parts = [*spans], [*spans.values()]
        edits: list[Edit] = []
        kept = [index for index, argument in enumerate(given) if argument not in dropped]
        last = kept[-1] if kept else -1
        for index, argument in enumerate(given):
            if argument not in dropped or index > last + 1:
                continue
            if index < last:
                edits.append(Edit(parts[index][0], parts[index + 1][0], ""))
            elif last >= 0:
                edits.append(Edit(parts[last][1], parts[-1][1], ""))
            else:  # nothing is left: no comma either, and no line of its own
                opened = self.tree.text.index("(", self.span(call.func)[1])
                edits.append(Edit(opened + 1, self.span(call)[1] - 1, ""))
        return None if any(self.has_comment(edit.start, edit.end) for edit in edits) else edits
