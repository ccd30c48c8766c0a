"""Whole lines of a program parsed by LibCST, with its nodes for those of `ast`."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from rlint.edit.deferred_edit import CannotWriteError
from rlint.edit.parsed_code import HEADER, parsed, smallest_edits
from rlint.edit.source_text import SourceText
from rlint.findings import Edit
from rlint.parsing.imported_libcst import cst, metadata
from rlint.parsing.positions import Positions

Statement = cst.BaseSmallStatement | cst.BaseCompoundStatement
Replacements = Mapping[Statement, Sequence[cst.BaseStatement]]


class Snippet:
    """The lines from the first to the last of some statements of one block that share no lines with
    others.
    """

    def __init__(self, first: ast.stmt, last: ast.stmt, source: SourceText) -> None:
        positions = source.syntax.positions
        self._source = source
        self.start = positions.line_start(source.first_line(first))
        self.end = positions.line_start((last.end_lineno or last.lineno) + 1)
        lines = source.syntax.text[self.start : self.end]
        self.header = f"{HEADER}{positions.newline}" if lines[:1] in (" ", "\t") else ""
        text = self.header + lines
        module = parsed(text, source.indent_unit(first))
        wrapper = metadata.MetadataWrapper(module, unsafe_skip_copy=True)
        self._places = places = wrapper.resolve(metadata.PositionProvider)
        self._counted = counted = Positions(text)
        self.module = module
        self._statements: dict[int, Statement] = {}
        self._lines: dict[Statement, cst.SimpleStatementLine] = {}
        for node, span in places.items():
            if isinstance(node, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                begins = counted.line_start(span.start.line) + span.start.column
                self._statements.setdefault(begins + self.start - len(self.header), node)
            elif isinstance(node, cst.SimpleStatementLine) and len(node.body) == 1:
                self._lines[node.body[0]] = node

    def statement(self, node: ast.stmt) -> Statement:
        """Return LibCST's node for a statement."""
        found = self._statements.get(self._source.span(node)[0])
        if found is None:
            raise CannotWriteError("LibCST reads the code in another way")
        return found

    def line(self, node: Statement) -> cst.BaseStatement:
        """Return a statement with its lines: with the comments above and after it, if it is alone."""
        return node if isinstance(node, cst.BaseCompoundStatement) else self._lines.get(node) or as_line(node)

    def edits(self, replacements: Replacements) -> tuple[Edit, ...]:
        """Return the edits that replace some statements by others; if there are none, they are deleted."""
        return self.edits_to(cst.ensure_type(self.module.visit(_Replaced(replacements)), cst.Module).code)

    def spans(self) -> dict[cst.CSTNode, tuple[int, int]]:
        """Return the positions of LibCST's nodes in the file, without surrounding parentheses."""
        begins = self.start - len(self.header)
        return {
            node: (
                begins + self._counted.line_start(span.start.line) + span.start.column,
                begins + self._counted.line_start(span.end.line) + span.end.column,
            )
            for node, span in self._places.items()
        }

    def edits_to(self, new: str) -> tuple[Edit, ...]:
        """Return the edits that turn the lines into other lines. Both begin with the header that makes them a
        block.
        """
        old = self._source.syntax.text[self.start : self.end]
        if not new.startswith(self.header):
            raise CannotWriteError("LibCST would write the code in another way")
        return smallest_edits(self.start, old, new[len(self.header) :])


def as_line(node: Statement) -> cst.BaseStatement:
    """Return a statement as one on lines of its own, without the comments above it."""
    if isinstance(node, cst.BaseCompoundStatement):
        return node.with_changes(leading_lines=[])
    return cst.SimpleStatementLine([node.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])


class _Replaced(cst.CSTTransformer):
    """Replaces statements by others. Other statements on their line get a line of their own, and a statement
    on the line of its header becomes a block.
    """

    def __init__(self, replacements: Replacements) -> None:
        super().__init__()
        self._replacements = replacements

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> Any:
        """Render a statement, or the line of one, after a change."""
        node = super().on_leave(original_node, updated_node)
        found: object = node
        if isinstance(original_node, cst.SimpleStatementLine):
            if any(part in self._replacements for part in original_node.body):
                found = _flat(self._lines(original_node), original_node.leading_lines)
        elif isinstance(original_node, cst.SimpleStatementSuite):
            if any(part in self._replacements for part in original_node.body):
                found = _block(self._lines(original_node))
        elif isinstance(original_node, cst.BaseCompoundStatement):
            if original_node in self._replacements:
                lines = list(self._replacements[original_node])
                above: Sequence[cst.EmptyLine] = getattr(original_node, "leading_lines", ())
                found = _flat(lines, above)
        elif isinstance(node, cst.IndentedBlock) and not node.body:
            found = node.with_changes(body=_block([]).body)
        return found

    def _lines(self, line: cst.SimpleStatementLine | cst.SimpleStatementSuite) -> list[cst.BaseStatement]:
        found: list[cst.BaseStatement] = []
        together: list[cst.BaseSmallStatement] = []
        for part in line.body:
            if part in self._replacements:
                found += [_joined(together)] if together else []
                found += self._replacements[part]
                together = []
            else:
                together.append(part)
        found += [_joined(together)] if together else []
        is_shared = isinstance(line, cst.SimpleStatementSuite) or len(line.body) > 1
        if found and (is_shared or isinstance(found[-1], cst.SimpleStatementLine)):
            found[-1] = _with_comment(found[-1], line.trailing_whitespace)
        return found


def _with_comment(node: cst.BaseStatement, trailing: cst.TrailingWhitespace) -> cst.BaseStatement:
    """Return a statement with the comment after it on its last line."""
    if isinstance(node, cst.SimpleStatementLine):
        return node.with_changes(trailing_whitespace=trailing)
    body = getattr(node, "body", None)
    if isinstance(body, cst.IndentedBlock) and trailing.comment is not None:
        last = body.body[-1]
        assert isinstance(last, cst.BaseStatement)
        return node.with_changes(
            body=body.with_changes(body=[*body.body[:-1], _with_comment(last, trailing)])
        )
    return node


def _joined(parts: list[cst.BaseSmallStatement]) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([*parts[:-1], parts[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])


def _flat(lines: list[cst.BaseStatement], above: Sequence[cst.EmptyLine]) -> object:
    if not lines:
        return cst.RemoveFromParent()
    own: Sequence[cst.EmptyLine] = getattr(lines[0], "leading_lines", ())
    return cst.FlattenSentinel([lines[0].with_changes(leading_lines=[*above, *own]), *lines[1:]])


def _block(lines: list[cst.BaseStatement]) -> cst.IndentedBlock:
    return cst.IndentedBlock(lines or [cst.SimpleStatementLine([cst.Pass()])])
