"""Edits from nodes: replace, insert, delete, wrap, unwrap. Everything else in the file is unchanged."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rlint.edit.deferred_edit import DeferredEdit, written
from rlint.edit.source_text import SourceText
from rlint.findings import Edit
from rlint.parsing.grammar import RUNNING, Grammar
from rlint.regex import regex

if TYPE_CHECKING:
    from rlint.edit.libcst_nodes import LibcstNodes

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


_NOTHING: Mapping[Any, str] = {}


def needs_parentheses(text: str, grammar: Grammar = RUNNING) -> bool:
    """Whether the text of an expression contains line breaks that are only allowed in parentheses."""
    try:
        grammar.expression(text)
    except SyntaxError:
        return True
    return False


class Edits:
    """Builds the edits of fixes in one file.

    An impossible edit (a statement before an `elif`) gives None: the finding is then reported without a fix.
    Edits that move code, or concern statements that share their lines, are written by LibCST, and only once
    their text is needed.
    """

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.syntax = source.syntax

    def parenthesized(self, node: ast.expr) -> str:
        """Return the text of an expression for use as an operand, argument or before a dot: in parentheses if
        it has operators or line breaks outside of brackets.
        """
        text = self.source.text(node)
        if isinstance(node, _OPERATORS) and not (isinstance(node, ast.Tuple) and text.startswith("(")):
            return f"({text})"
        if "\n" in text and needs_parentheses(text, self.syntax.grammar):
            return f"({text})"
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, complex)):
            return f"({text})"
        return text

    def code(self, node: ast.expr) -> str:
        """Return the text of an expression for use as a value, as the operand that it already is, or before a
        dot: with line breaks only within brackets.
        """
        text = self.source.text(node)
        if not _LINE_END.search(text) or not needs_parentheses(text, self.syntax.grammar):
            return text
        part: ast.expr = node
        while isinstance(part, ast.Attribute):
            part = part.value
        if isinstance(part, ast.Name) and not self.source.has_comment(*self.source.span(node)):
            return "".join(text.replace("\\", "").split())  # a plain path
        return f"({text})"

    def whole(self, text: str) -> str:
        """Return the text of an expression, in parentheses if it has line breaks outside of brackets."""
        broken = _LINE_END.search(text) and needs_parentheses(text, self.syntax.grammar)
        return f"({text})" if broken else text

    def is_relocatable(self, node: ast.expr) -> bool:
        """Whether the text of an expression can be moved elsewhere. False inside an f-string on Python
        versions that do not record the positions of its parts.
        """
        start, end = self.source.span(node)
        if not any(isinstance(ancestor, ast.JoinedStr) for ancestor in self.syntax.ancestors(node)):
            return True
        try:
            parsed = self.syntax.grammar.expression(f"({self.syntax.text[start:end]})")
        except (SyntaxError, ValueError):
            return False
        return ast.dump(parsed) == ast.dump(node)

    def insert_before(self, statement: ast.stmt, *lines: str, indentation: str | None = None) -> Edit | None:
        """Insert lines of code (without indentation) before a statement, indented like it. Continuation lines
        within one of them are unchanged, or re-indented from `indentation`.
        """
        return self._insert(statement, lines, indentation, following=False)

    def insert_after(self, statement: ast.stmt, *lines: str, indentation: str | None = None) -> Edit | None:
        """Insert lines of code after a statement, as `insert_before` does."""
        return self._insert(statement, lines, indentation, following=True)

    def _insert(
        self, statement: ast.stmt, lines: Sequence[str], indentation: str | None, *, following: bool
    ) -> Edit | None:
        own, positions = self.source.indentation(statement), self.syntax.positions
        if not self.source.stands_alone(statement):
            neighbours = self.source.statements_sharing_lines(statement)
            if neighbours is None:
                return None

            def inserted_lines() -> tuple[Edit, ...]:
                from rlint.edit.statement_edits import inserted

                given = lines if indentation is None else self._moved(lines, indentation, "")
                return inserted(statement, given, self.source, following=following)

            about = self.source.span(statement)
            return DeferredEdit(*self._lines_of(*neighbours), "\n".join(lines), inserted_lines, about=about)
        last = statement.end_lineno or statement.lineno
        place = positions.line_start(last + 1 if following else self.source.first_line(statement))
        at_end = following and positions.line_end(last) == len(self.syntax.text)  # without a final line end

        def edit(lines: Sequence[str]) -> Edit:
            block = self._block(lines, own)
            if at_end:
                block = positions.newline + block.removesuffix(positions.newline)
            return Edit(place, place, block)

        if indentation in (None, own) or not any(map(_LINE_END.search, lines)):
            return edit(lines)
        moved_from: str = indentation or ""
        return DeferredEdit(
            place, place, "\n".join(lines), lambda: (edit(self._moved(lines, moved_from, own)),)
        )

    def _moved(self, lines: Sequence[str], old: str, new: str) -> list[str]:
        from rlint.edit.moved_code import moved

        return [moved(line, old, new, self.syntax.grammar) for line in lines]

    def _lines_of(self, first: ast.stmt, last: ast.stmt) -> tuple[int, int]:
        """Return the span of whole lines."""
        positions = self.syntax.positions
        end = positions.line_start((last.end_lineno or last.lineno) + 1)
        return positions.line_start(self.source.first_line(first)), end

    def replace_statement(self, statement: ast.stmt, *lines: str) -> Edit | None:
        """Replace a whole statement by lines of code, indented like it; a comment after it is kept."""
        if not self.source.stands_alone(statement):
            neighbours = self.source.statements_sharing_lines(statement)
            if neighbours is None:
                return None

            def instead() -> tuple[Edit, ...]:
                from rlint.edit.statement_edits import replaced

                return replaced(statement, lines, self.source)

            about = self.source.span(statement)
            return DeferredEdit(*self._lines_of(*neighbours), "\n".join(lines), instead, about=about)
        start, end = self.source.span(statement)
        indentation = self.source.indentation(statement)
        block = self._block(lines, indentation).removesuffix(self.syntax.positions.newline)
        return Edit(start, end, block[len(indentation) :])

    def delete_statement(self, statement: ast.stmt, *, comment: bool = False) -> Edit | None:
        """Delete a statement and its lines, with the `comment` above that belongs to it alone, and with
        surplus blank lines after it; `pass` replaces it if the block would be empty.
        """
        block, index = self.syntax.block(statement)
        if len(block) == 1:
            return Edit(*self.source.span(statement), "pass")
        if not self.source.stands_alone(statement):
            return self._delete_together([statement])
        positions = self.syntax.positions
        owned = self.source.own_comment(statement) if comment else []
        first = self.source.first_line(statement) - len(owned)
        following = (statement.end_lineno or statement.lineno) + 1
        if index + 1 < len(block):
            following += self._blank_lines_to_drop(first, following, begins=index == 0)
        start, end = positions.line_start(first), positions.line_start(following)
        return Edit(start, end, "", owns=tuple(owned))

    def _delete_together(self, removed: Sequence[ast.stmt]) -> Edit | None:
        """Delete statements that share their lines with others."""
        neighbours = self.source.statements_sharing_lines(removed[0])
        if neighbours is None:
            return None

        def without() -> tuple[Edit, ...]:
            from rlint.edit.statement_edits import deleted

            return deleted(removed, self.source)

        return DeferredEdit(*self._lines_of(*neighbours), "", without, deletes=True)

    def _blank_lines_to_drop(self, first: int, following: int, *, begins: bool) -> int:
        """Return the number of blank lines after `following` to drop when the lines from `first` on are
        removed. The larger of two gaps is kept, and a block begins without one.
        """
        positions = self.syntax.positions
        before = after = 0
        while first - before > 1 and not positions.line_text(first - before - 1).strip():
            before += 1
        while not positions.line_text(following + after).strip():
            after += 1
        above = positions.line_text(first - 1).lstrip() if first > 1 else ""
        if begins and above and not before and not above.startswith("#"):
            return after
        return min(before, after)

    def _block(self, lines: Sequence[str], indentation: str) -> str:
        newline = self.syntax.positions.newline
        written = (_LINE_END.sub(newline, line) for line in lines)
        return "".join(f"{indentation}{line}{newline}" if line else newline for line in written)

    def replace(self, node: ast.AST, text: str) -> Edit:
        """Replace an expression (or any node) by text."""
        return Edit(*self.source.span(node), text)

    def rewrite(
        self, node: ast.AST, transform: Callable[..., object], *parts: ast.AST, code: str = ""
    ) -> Edit:
        """Replace a node by the result of a function of its LibCST node: another node, or for a statement
        several, or None to delete it. The function also receives the nodes of some `parts` of the code, and
        runs once the text is needed. `code` contains the names in the new code.
        """

        def made() -> tuple[Edit, ...]:
            return self.libcst.rewritten(node, transform, parts)

        span = self.source.grouped_span(node) if isinstance(node, ast.expr) else self.source.span(node)
        return DeferredEdit(*span, code, made)

    @cached_property
    def libcst(self) -> LibcstNodes:
        """LibCST nodes of this file, parsed on demand."""
        from rlint.edit.libcst_nodes import LibcstNodes

        return LibcstNodes(self.source)

    def with_keyword(self, call: ast.Call, name: str, value: str) -> Edit | None:
        """Add a keyword argument to a call; None if it is already passed."""
        return self.rewrite_call(call, keywords={name: value})

    def without_arguments(self, call: ast.Call, dropped: Collection[ast.expr]) -> Edit | None:
        """Remove arguments from a call, with their commas (and keywords)."""
        return self.rewrite_call(call, without=dropped)

    def rewrite_call(
        self,
        call: ast.Call,
        *,
        function: str | None = None,
        keywords: Mapping[str, str] = _NOTHING,
        without: Collection[ast.expr] = (),
        instead: Mapping[ast.expr, str] = _NOTHING,
    ) -> Edit | None:
        """Call another function, with more keywords, without some arguments, and with others `instead` of
        some, each text being the source of one or more arguments. None if such a keyword is already passed.
        """
        if any(keyword.arg in keywords for keyword in call.keywords):
            return None
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        given.sort(key=lambda argument: self.source.span(argument)[0])
        start, end = self.source.span(call)
        text = self.syntax.text[start:end]

        def rewritten_call() -> tuple[Edit, ...]:
            from rlint.edit.call_edits import rewritten
            from rlint.edit.parsed_code import smallest_edits

            new = rewritten(
                text,
                function=function,
                keywords=keywords,
                dropped=[given.index(argument) for argument in without],
                replaced={given.index(argument): written for argument, written in instead.items()},
            )
            # a call with more arguments changes as a whole: fixes around it wait for the next pass
            return (Edit(start, end, new),) if keywords else smallest_edits(start, text, new)

        new_keywords = (f"{name}={value}" for name, value in keywords.items())
        code = (function or "", *new_keywords, *instead.values())
        return DeferredEdit(start, end, " ".join(code), rewritten_call)

    def cut_keyword(self, call: ast.Call, value: ast.expr) -> Edit | None:
        """Remove a keyword argument, given by its value, from a call, as an edit that is written at once: for
        text that is needed before its edit. None for an argument without keyword, and for the only one.
        """
        given: list[ast.expr | ast.keyword] = sorted([*call.args, *call.keywords], key=self.source.span)
        place = next((n for n, each in enumerate(given) if getattr(each, "value", None) is value), -1)
        if place < 0 or len(given) == 1:
            return None
        if place + 1 < len(given):
            return Edit(self.source.span(given[place])[0], self.source.span(given[place + 1])[0], "")
        end = self.source.grouped_span(value)[1]
        before = given[place - 1]
        last = before.value if isinstance(before, ast.keyword) else before
        return Edit(self.source.grouped_span(last)[1], end, "")

    def replace_method(self, call: ast.Call, text: str) -> Edit:
        """Replace the method that is called and its arguments by text (`.popleft()`, or nothing), after the
        receiver.
        """
        assert isinstance(call.func, ast.Attribute)
        return Edit(self.source.receiver_end(call.func), self.source.span(call)[1], text)

    def rename_attribute(self, attribute: ast.Attribute, name: str) -> Edit:
        """Rename an attribute or a method of the same object."""
        end = self.source.span(attribute)[1]
        return Edit(end - len(attribute.attr), end, name)

    def as_argument(self, node: ast.expr) -> str:
        """Return the text of an expression for use as an argument, with or without a keyword."""
        needs = isinstance(node, (ast.NamedExpr, ast.Tuple, ast.GeneratorExp))
        return self.parenthesized(node) if needs else self.syntax.text[slice(*self.source.grouped_span(node))]

    def keep_alone(self, code: ast.AST, kept: ast.expr, before: str, following: str) -> list[Edit]:
        """Keep one expression of some code, with its own parentheses and text before and after it."""
        start, end = self.source.span(code)
        first, last = self.source.grouped_span(kept)
        return [Edit(start, first, before), Edit(last, end, following)]

    def replace_group(self, node: ast.expr, text: str) -> Edit:
        """Replace an operand with the parentheses around it."""
        return Edit(*self.source.grouped_span(node), text)

    def without_items(self, display: ast.Dict, dropped: Collection[ast.expr]) -> Edit:
        """Remove items, given by their values, from a dict display, with their commas."""
        start, end = self.source.span(display)
        text = self.syntax.text[start:end]

        def less() -> tuple[Edit, ...]:
            from rlint.edit.display_edits import without_items
            from rlint.edit.parsed_code import smallest_edits

            places = [place for place, value in enumerate(display.values) if value in dropped]
            return smallest_edits(start, text, without_items(text, places))

        return DeferredEdit(start, end, "", less)

    def text_with(self, node: ast.AST, edits: Iterable[Edit]) -> str:
        """Return the text of a node with edits applied to it."""
        start, end = self.source.span(node)
        done, parts = start, list[str]()
        for edit in sorted(written(edits), key=lambda edit: (edit.start, edit.end)):
            parts += (self.syntax.text[done : edit.start], edit.text)
            done = edit.end
        return "".join([*parts, self.syntax.text[done:end]])

    def insert_after_expression(self, node: ast.expr, text: str) -> Edit:
        """Insert text after an expression, inside of parentheses around it: a method call on it."""
        end = self.source.span(node)[1]
        return Edit(end, end, text)

    def delete_statements(self, statements: Collection[ast.stmt]) -> list[Edit] | None:
        """Delete statements, each with the comment above that belongs to it alone; `pass` is inserted in a
        block that would be empty, and a comment after a statement is kept. None if a comment in a statement
        would be lost, or one shares its line.
        """
        found: list[Edit] = []
        for statement in statements:
            if any(ancestor in statements for ancestor in self.syntax.ancestors(statement)):
                continue
            start, end = self.source.span(statement)
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
        """Delete a whole `else` block, with its header; None if the block is not one."""
        parent, positions = self.syntax.parents.get(block[0]), self.syntax.positions
        if not isinstance(parent, (ast.If, ast.For)) or block is not parent.orelse:
            return None
        above, last = parent.body[-1], block[-1]
        start = positions.line_start((above.end_lineno or above.lineno) + 1)
        end = positions.line_start((last.end_lineno or last.lineno) + 1)
        header = self.syntax.text[start : self.source.span(block[0])[0]]
        if header.strip() != "else:" or self.source.has_comment(start, end):
            return None
        return Edit(start, end, "")

    def wrap_in(self, header: str, run: Sequence[ast.stmt]) -> Edit | None:
        """Wrap consecutive statements in a block (`with lock:`, `if ready:`)."""
        first, last = (
            self.source.statements_sharing_lines(run[0]),
            self.source.statements_sharing_lines(run[-1]),
        )
        if first is None or last is None:
            return None

        def around() -> tuple[Edit, ...]:
            from rlint.edit.statement_edits import wrapped

            return wrapped(header, run, self.source)

        about = self.source.span(run[0])[0], self.source.span(run[-1])[1]
        return DeferredEdit(*self._lines_of(first[0], last[1]), header, around, about=about)

    def add_else(self, branch: ast.If, *lines: str, indentation: str) -> Edit | None:
        """Add an `else` with lines of code to an `if`; continuation lines have the indentation
        `indentation`.
        """
        neighbours = self.source.statements_sharing_lines(branch)
        if neighbours is None or branch.orelse:
            return None

        def added() -> tuple[Edit, ...]:
            from rlint.edit.statement_edits import with_else

            return with_else(branch, self._moved(lines, indentation, ""), self.source)

        about = self.source.span(branch)
        return DeferredEdit(*self._lines_of(*neighbours), "\n".join(lines), added, about=about)
