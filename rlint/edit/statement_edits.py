"""Edits of whole statements, written by LibCST: insertions, deletions, wrapping and unwrapping."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from rlint.edit.deferred_edit import CannotWriteError
from rlint.edit.parsed_code import by_libcst, statements
from rlint.edit.snippet import Snippet, as_line
from rlint.edit.source_text import SourceText
from rlint.findings import Edit
from rlint.parsing.imported_libcst import cst


@by_libcst
def inserted(
    statement: ast.stmt, lines: Sequence[str], source: SourceText, *, following: bool = False
) -> tuple[Edit, ...]:
    """Return the edits that insert lines of code (not indented) before or after a statement."""
    snippet = _snippet([statement], source)
    node = snippet.statement(statement)
    new = statements("\n".join(lines), snippet.module)
    own = as_line(node)
    return snippet.edits({node: [own, *new] if following else [*new, own]})


@by_libcst
def replaced(statement: ast.stmt, lines: Sequence[str], source: SourceText) -> tuple[Edit, ...]:
    """Return the edits that replace a statement by lines of code."""
    snippet = _snippet([statement], source)
    new = statements("\n".join(lines), snippet.module)
    return snippet.edits({snippet.statement(statement): new})


@by_libcst
def deleted(removed: Collection[ast.stmt], source: SourceText) -> tuple[Edit, ...]:
    """Return the edits that delete statements which share their lines with others."""
    snippet = _snippet(removed, source)
    return snippet.edits({snippet.statement(statement): [] for statement in removed})


@by_libcst
def wrapped(header: str, run: Sequence[ast.stmt], source: SourceText) -> tuple[Edit, ...]:
    """Return the edits that wrap consecutive statements in a block with a header."""
    snippet = _snippet(run, source)
    nodes = [snippet.statement(statement) for statement in run]
    [block] = statements(f"{header}\n{snippet.module.default_indent}pass", snippet.module)
    if not isinstance(block, cst.BaseCompoundStatement) or not isinstance(block.body, cst.IndentedBlock):
        raise CannotWriteError("the header is none")
    first, *others = (snippet.line(node) for node in nodes)
    inner = cst.IndentedBlock([first.with_changes(leading_lines=[]), *others])
    return snippet.edits({nodes[0]: [block.with_changes(body=inner)], **{node: [] for node in nodes[1:]}})


@by_libcst
def with_else(branch: ast.If, lines: Sequence[str], source: SourceText) -> tuple[Edit, ...]:
    """Return the edits that add an `else` with lines of code (not indented) to an `if`."""
    snippet = _snippet([branch], source)
    node = snippet.statement(branch)
    if not isinstance(node, cst.If) or node.orelse is not None:
        raise CannotWriteError("the `if` has an `else`")
    new = cst.Else(cst.IndentedBlock(statements("\n".join(lines), snippet.module)))
    return snippet.edits({node: [node.with_changes(orelse=new, leading_lines=[])]})


def _snippet(run: Collection[ast.stmt], source: SourceText) -> Snippet:
    """Return the lines of statements of one block and of those that share lines with them."""
    neighbours = [source.statements_sharing_lines(statement) for statement in run]
    known = [neighbour for neighbour in neighbours if neighbour is not None]
    if len(known) < len(neighbours):
        raise CannotWriteError("the statement has no lines of its own")
    ordered = sorted(known, key=lambda neighbour: source.span(neighbour[0]))
    first, last = (
        ordered[0][0],
        max((neighbour[1] for neighbour in known), key=lambda each: source.span(each)[1]),
    )
    if source.syntax.parents.get(first) is not source.syntax.parents.get(last):
        raise CannotWriteError("the statements are in several blocks")
    return Snippet(first, last, source)
