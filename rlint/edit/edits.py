"""Edits from nodes: replace, insert, delete, wrap, unwrap. All else stays as it stands in the file."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence

from rlint.edit import call_arguments
from rlint.edit.reindent import reindented
from rlint.edit.source_text import SourceText
from rlint.findings import Edit
from rlint.regex import regex

_LINE_END = regex(r"\r\n|\r|\n")
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

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.syntax = source.syntax

    def parenthesized(self, node: ast.expr) -> str:
        """The text of an expression fit to stand as an operand, argument or before a dot: in
        parentheses where it is made of operators or broken over lines outside of brackets.
        """
        text = self.source.text(node)
        if isinstance(node, _OPERATORS) and not (isinstance(node, ast.Tuple) and text.startswith("(")):
            return f"({text})"
        if "\n" in text and call_arguments.needs_parentheses(text, self.syntax.grammar):
            return f"({text})"
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, complex)):
            return f"({text})"
        return text

    def is_relocatable(self, node: ast.expr) -> bool:
        """Can the text of an expression be trusted and put elsewhere? Not from inside an f-string on
        Pythons that do not know where its parts stand, and not with a comment in it.
        """
        start, end = self.source.span(node)
        if self.source.has_comment(start, end):
            return False
        if not any(isinstance(ancestor, ast.JoinedStr) for ancestor in self.syntax.ancestors(node)):
            return True
        try:
            parsed = self.syntax.grammar.expression(f"({self.syntax.text[start:end]})")
        except (SyntaxError, ValueError):
            return False
        return ast.dump(parsed) == ast.dump(node)

    def insert_before(self, statement: ast.stmt, *lines: str) -> Edit | None:
        """Put lines of code (without indentation) before a statement, indented like it. What follows a line
        end within one of them is left as it is (see `moved`).
        """
        if not self.source.stands_alone(statement):
            return None
        start = self.syntax.positions.line_start(self.source.first_line(statement))
        return Edit(start, start, self._block(lines, self.source.indentation(statement)))

    def insert_after(self, statement: ast.stmt, *lines: str) -> Edit | None:
        """Put lines of code (without indentation) behind a statement, indented like it."""
        if not self.source.stands_alone(statement):
            return None
        positions = self.syntax.positions
        last = statement.end_lineno or statement.lineno
        start = positions.line_start(last + 1)
        block = self._block(lines, self.source.indentation(statement))
        if positions.line_end(last) == len(self.syntax.text):  # no line end at the end of the file
            return Edit(start, start, positions.newline + block.removesuffix(positions.newline))
        return Edit(start, start, block)

    def replace_statement(self, statement: ast.stmt, *lines: str) -> Edit | None:
        """Replace a whole statement by lines of code, indented like it; a comment behind it stays."""
        if not self.source.stands_alone(statement):
            return None
        start, end = self.source.span(statement)
        block = self._block(lines, self.source.indentation(statement)).removesuffix(
            self.syntax.positions.newline
        )
        return Edit(start, end, block[len(self.source.indentation(statement)) :])

    def delete_statement(self, statement: ast.stmt, *, comment: bool = False) -> Edit | None:
        """Remove a statement and its lines, with the `comment` above that is about it alone, and with blank
        lines behind it that would be too many; `pass` takes its place where the block would be empty.
        """
        if not self.source.stands_alone(statement):
            return None
        block, index = self.syntax.block(statement)
        if len(block) == 1:
            return Edit(*self.source.span(statement), "pass")
        positions = self.syntax.positions
        owned = self.source.own_comment(statement) if comment else []
        first = self.source.first_line(statement) - len(owned)
        behind = (statement.end_lineno or statement.lineno) + 1
        if index + 1 < len(block):
            behind += self._blank_lines_to_drop(first, behind, begins=index == 0)
        start, end = positions.line_start(first), positions.line_start(behind)
        return Edit(start, end, "", owns=tuple(owned))

    def _blank_lines_to_drop(self, first: int, behind: int, *, begins: bool) -> int:
        """How many of the blank lines from `behind` on are too many without the lines from `first` to there?
        The larger of two gaps stays, and a block begins with none.
        """
        positions = self.syntax.positions
        before = after = 0
        while first - before > 1 and not positions.line_text(first - before - 1).strip():
            before += 1
        while not positions.line_text(behind + after).strip():
            after += 1
        above = positions.line_text(first - 1).lstrip() if first > 1 else ""
        if begins and above and not before and not above.startswith("#"):
            return after
        return min(before, after)

    def _block(self, lines: tuple[str, ...], indentation: str) -> str:
        newline = self.syntax.positions.newline
        written = (_LINE_END.sub(newline, line) for line in lines)
        return "".join(f"{indentation}{line}{newline}" if line else newline for line in written)

    def reindented(self, code: str, statement: ast.stmt, beside: ast.stmt | None) -> str | None:
        """Return the code of a statement, or of an expression in it, with its lines indented as they have to
        be beside another statement, or at module level. None where that changes what it means.
        """
        return reindented(
            code,
            self.source.indentation(statement),
            self.source.indentation(beside) if beside is not None else "",
            self.syntax.grammar,
        )

    def replace(self, node: ast.AST, text: str) -> Edit:
        """Replace an expression (or any node) by text."""
        return Edit(*self.source.span(node), text)

    def with_keyword(self, call: ast.Call, name: str, value: str) -> Edit | None:
        """Give a call one more keyword argument; None where it has it already or cannot be rewritten."""
        return self.with_keywords(call, {name: value})

    def with_keywords(self, call: ast.Call, keywords: Mapping[str, str]) -> Edit | None:
        """Give a call more keyword arguments; None where it has one already or cannot be rewritten."""
        rewritten: str | None = self.source.text(call)
        for name, value in keywords.items():
            if rewritten is not None:
                rewritten = call_arguments.with_keyword(rewritten, name, value, self.syntax.grammar)
        return self.replace(call, rewritten) if rewritten is not None else None

    def without_arguments(self, call: ast.Call, dropped: Collection[ast.expr]) -> list[Edit] | None:
        """Take arguments out of a call, with their commas (and keywords); None where a comment would be
        lost, or the text does not show where the arguments are.
        """
        spans = self.source.argument_spans(call)
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
                opened = self.syntax.text.index("(", self.source.span(call.func)[1])
                edits.append(Edit(opened + 1, self.source.span(call)[1] - 1, ""))
        return None if any(self.source.has_comment(edit.start, edit.end) for edit in edits) else edits

    def delete_statements(self, statements: Collection[ast.stmt]) -> list[Edit] | None:
        """Remove statements, each with the comment above that is about it alone; `pass` goes where nothing
        would be left of a block, and a comment behind a statement stays. None where a comment in a statement
        would be lost, or one shares its line.
        """
        found: list[Edit] = []
        for statement in statements:
            if any(ancestor in statements for ancestor in self.syntax.ancestors(statement)):
                continue
            start, end = self.source.span(statement)
            if self.source.has_comment(start, end) or not self.source.stands_alone(statement):
                return None
            block, index = self.syntax.block(statement)
            if all(sibling in statements for sibling in block):
                if index == len(block) - 1:
                    found.append(self._without_else(block) or Edit(start, end, "pass"))
                    continue
                if self._without_else(block) is not None:
                    continue
            rest = self.syntax.text[
                end : self.syntax.positions.line_end(statement.end_lineno or statement.lineno)
            ]
            if rest.strip():
                found.append(Edit(start, end + len(rest) - len(rest.lstrip()), ""))
                continue
            deleted = self.delete_statement(statement, comment=True)
            if deleted is None:
                return None
            found.append(deleted)
        return found

    def _without_else(self, block: list[ast.stmt]) -> Edit | None:
        """Remove a whole `else` block, with its header; None where the block is none."""
        parent, positions = self.syntax.parents.get(block[0]), self.syntax.positions
        if not isinstance(parent, (ast.If, ast.For)) or block is not parent.orelse:
            return None
        above, last = parent.body[-1], block[-1]
        start = positions.line_start((above.end_lineno or above.lineno) + 1)
        end = positions.line_start((last.end_lineno or last.lineno) + 1)
        header = self.syntax.text[start : positions.line_start(block[0].lineno)]
        if header.strip() != "else:" or self.source.has_comment(start, end):
            return None
        return Edit(start, end, "")

    def wrap_in(self, header: str, run: Sequence[ast.stmt]) -> Edit | None:
        """Put statements that follow one another under a header (`with lock:`, `if ready:`); None where their
        lines cannot be indented just so.
        """
        first, last = run[0], run[-1]
        if not all(map(self.source.stands_alone, run)):
            return None
        base = self.source.indentation(first)
        start, end = self.source.span(first)[0], self.source.span(last)[1]
        inner = base + self.indent_unit(first)
        body = reindented(self.syntax.text[start:end], base, inner, self.syntax.grammar)
        if body is None:
            return None
        return Edit(start, end, f"{header}{self.syntax.positions.newline}{inner}{body}")

    def indent_unit(self, statement: ast.stmt) -> str:
        """One level of indentation, as it is around a statement."""
        base = self.source.indentation(statement)
        around = self.syntax.parents.get(statement)
        while around is not None and not isinstance(around, (ast.stmt, ast.Module)):
            around = self.syntax.parents.get(around)
        outer = self.source.indentation(around) if isinstance(around, ast.stmt) else ""
        found = base.removeprefix(outer) if base.startswith(outer) else ""
        return found or ("\t" if base.startswith("\t") else "    ")

    def unwrap(self, block: ast.With | ast.AsyncWith) -> Edit | None:
        """Put what stands under a `with` in its place; None where its lines cannot be moved just so, or where
        a comment would be lost.
        """
        first, last = block.body[0], block.body[-1]
        if not self.source.stands_alone(block) or not self.source.stands_alone(first):
            return None
        start, end = self.source.span(block)[0], self.source.span(last)[1]
        if self.source.has_comment(start, self.source.span(first)[0]):
            return None
        outer, inner = self.source.indentation(block), self.source.indentation(first)
        if not inner.startswith(outer):
            return None
        moved = self.syntax.text[self.source.span(first)[0] : end]
        body = reindented(moved, inner, outer, self.syntax.grammar)
        return Edit(start, end, body) if body is not None else None
