"""The statements that edits change: whether they still parse, and mean what the edits say."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rlint.findings import Edit
from rlint.frozen import frozen
from rlint.syntax.tree import Tree

_ATOMS = (
    ast.Name,
    ast.Attribute,
    ast.Call,
    ast.Subscript,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
)
"""Expressions that mean the same at every place, in parentheses or not."""


_HEADER = "if 1:\n"


@frozen
class Piece:
    """The lines of one statement, and the edits within them."""

    start: int
    end: int
    edits: tuple[Edit, ...]

    def rendered(self, text: str) -> str:
        """The lines with the edits applied."""
        parts: list[str] = []
        done = self.start
        for edit in self.edits:
            parts += (text[done : edit.start], edit.text)
            done = edit.end
        return "".join([*parts, text[done : self.end]])

    def new_spans(self) -> list[tuple[int, int]]:
        """Where the texts of the edits stand in the changed lines."""
        found, grown = [], -self.start
        for edit in self.edits:
            start = edit.start + grown
            found.append((start, start + len(edit.text)))
            grown += len(edit.text) - (edit.end - edit.start)
        return found


def pieces(edits: Sequence[Edit], tree: Tree) -> list[Piece] | None:
    """Return the statements that the edits of one fix change, with parentheses around those new expressions
    that would otherwise be read as parts of another; None where the changed program would not parse.
    """
    found: list[Piece] = []
    for piece in _pieces(edits, tree):
        mended = _mended(piece, tree)
        if mended is None:
            return None
        found.append(mended)
    return found


def _pieces(edits: Sequence[Edit], tree: Tree) -> list[Piece]:
    """The smallest statements that hold the edits, in order; none holds another."""
    spans: list[tuple[int, int, list[Edit]]] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        start, end = _around(edit.start, edit.end, tree)
        held = [edit]
        while spans and start < spans[-1][1]:
            before, behind, others = spans.pop()
            start, end = _around(min(start, before), max(end, behind), tree)
            held = [*others, *held]
        spans.append((start, end, held))
    return [Piece(start, end, tuple(held)) for start, end, held in spans]


def _around(start: int, end: int, tree: Tree) -> tuple[int, int]:
    """The lines of the smallest statement that holds a span, as offsets; those of the file if none does."""
    found = (0, len(tree.text))
    block: Sequence[ast.stmt] = tree.module.body
    while True:
        for statement in block:
            lines = _lines(statement, tree)
            if lines[0] <= start and end <= lines[1]:
                found, block = lines, list(_statements_in(statement))
                break
        else:
            return found


def _lines(statement: ast.stmt, tree: Tree) -> tuple[int, int]:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(node.lineno for node in decorators)])
    positions = tree.positions
    return positions.line_start(first), positions.line_start((statement.end_lineno or first) + 1)


def _statements_in(statement: ast.stmt) -> Iterator[ast.stmt]:
    for node in ast.iter_child_nodes(statement):
        if isinstance(node, ast.stmt):
            yield node
        elif isinstance(node, (ast.ExceptHandler, ast.match_case)):
            yield from node.body


def _mended(piece: Piece, tree: Tree) -> Piece | None:
    """A piece with edits in parentheses where they need some; None where the program would not parse."""
    text = tree.text
    start, end = piece.start, piece.end
    while True:
        wider = Piece(start, end, piece.edits)
        before = _dumped(text[start:end])
        if before is not None:
            mended = _with_parentheses(wider, before, text)
            if mended is not None:
                return replace(wider, edits=tuple(mended))
        if (start, end) == (0, len(text)):
            return None
        start, end = _wider(start, end, tree)


def _wider(start: int, end: int, tree: Tree) -> tuple[int, int]:
    """The lines of the statement around some lines."""
    found = (0, len(tree.text))
    block: Sequence[ast.stmt] = tree.module.body
    while True:
        for statement in block:
            lines = _lines(statement, tree)
            if lines[0] <= start and end <= lines[1] and lines != (start, end):
                found, block = lines, list(_statements_in(statement))
                break
        else:
            return found


def _with_parentheses(piece: Piece, before: str, text: str) -> Sequence[Edit] | None:
    edits = list(piece.edits)
    for number, edit in enumerate(edits):
        wrapped = _wrapped(edit, piece, before, text)
        if wrapped is None:
            continue
        plain = _dumped(Piece(piece.start, piece.end, tuple(edits)).rendered(text))
        others = [*edits[:number], wrapped, *edits[number + 1 :]]
        if _dumped(Piece(piece.start, piece.end, tuple(others)).rendered(text)) != plain:
            edits = others
    lines = Piece(piece.start, piece.end, tuple(edits)).rendered(text)
    is_alike = _indentation(lines) == _indentation(text[piece.start : piece.end])
    return edits if is_alike and _dumped(lines) is not None else None


def _indentation(lines: str) -> str:
    """The white space before the first statement of whole lines, comments included."""
    shown = lines.lstrip()
    return lines[: len(lines) - len(shown)].rpartition("\n")[2]


def _wrapped(edit: Edit, piece: Piece, before: str, text: str) -> Edit | None:
    """An edit that puts one expression in the place of another, with parentheses; None for others, and where
    parentheses never matter.
    """
    if edit.start == edit.end or not edit.text.strip():
        return None
    new, plain = _expression(f"({edit.text})"), _expression(edit.text)
    if new is None or (plain is not None and isinstance(plain, _ATOMS)):
        return None
    if isinstance(new, ast.Tuple) and (plain is None or ast.dump(_inside(edit.text)) != ast.dump(plain)):
        return None  # several arguments or items
    if isinstance(new, ast.GeneratorExp) and plain is None:
        return None
    old = Piece(
        piece.start,
        piece.end,
        (replace(edit, text=f"({text[edit.start : edit.end]})"),),
    )
    if _dumped(old.rendered(text)) != before:
        return None  # what is replaced was no expression
    return replace(edit, text=f"({edit.text})")


def _inside(text: str) -> ast.AST:
    """What an expression that may be a tuple is as the only item of another."""
    one = _expression(f"({text},)")
    return one.elts[0] if isinstance(one, ast.Tuple) and len(one.elts) == 1 else ast.Pass()


def _expression(text: str) -> ast.expr | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _dumped(lines: str) -> str | None:
    """What whole lines of a program mean; None where they are no statements, or indented in another way than
    by their first line.
    """
    parsed = parsed_lines(lines)
    return ast.dump(parsed[0]) if parsed is not None else None


def parsed_lines(lines: str) -> tuple[ast.Module, str] | None:
    """Parse whole lines of a program; return the module, and its text, in which a header is above lines that
    are indented. None where they are no statements.
    """
    indented = lines[:1] in (" ", "\t")
    text = f"{_HEADER}{lines}" if indented else lines
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not module.body:
        return None
    if indented:
        block, indent = module.body[0], len(lines) - len(lines.lstrip(" \t"))
        if not isinstance(block, ast.If) or len(module.body) > 1 or block.orelse:
            return None
        if block.body[0].col_offset != indent:
            return None
    return module, text
