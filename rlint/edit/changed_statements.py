"""Statements that edits change: whether they still parse, and have the intended meaning."""

from __future__ import annotations

import ast
import warnings
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from rlint.edit.deferred_edit import WrittenEdit
from rlint.findings import Edit
from rlint.frozen import frozen
from rlint.parsing.grammar import Grammar, Reading
from rlint.syntax.queries import same_code
from rlint.syntax.syntax_index import SyntaxIndex

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
"""Expressions that have the same meaning at every position, with or without parentheses."""


_InBlock = ast.stmt | ast.ExceptHandler | ast.match_case
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
_HOLDING_ITEMS = (ast.Call, ast.List, ast.Set, ast.Tuple, ast.Dict)
_HEADER = "if 1:\n"
_LONG = 1_000
"""Minimum length of a statement whose items are checked one by one: each of the many fixes in a long display
would otherwise parse all of it.
"""


@frozen
class Piece:
    """The lines of one statement with the edits within them, or one item of a long statement."""

    start: int
    end: int
    edits: tuple[Edit, ...]
    item: ast.expr | None = None
    """The item, if it is one: it is rendered in parentheses."""
    neighbour: ast.stmt | None = None
    """The long statement next to which whole lines are inserted."""
    stand_in: str = ""
    """The short line that stands for it, or for a statement that is deleted."""

    @property
    def _before(self) -> str:
        """Return the text before the lines."""
        return "(" if self.item is not None else self.stand_in

    def rendered(self, text: str) -> str:
        """Return the lines with the edits applied."""
        parts = [self._before]
        done = self.start
        for edit in self.edits:
            parts += (text[done : edit.start], edit.text)
            done = edit.end
        parts.append(text[done : self.end])
        return "".join([*parts, "\n)\n"] if self.item is not None else parts)

    def new_spans(self) -> list[tuple[int, int]]:
        """Return the positions of the edits' texts in the changed lines."""
        found, grown = [], len(self._before) - self.start
        for edit in self.edits:
            start = edit.start + grown
            found.append((start, start + len(edit.text)))
            grown += len(edit.text) - (edit.end - edit.start)
        return found


def pieces(edits: Sequence[Edit], syntax: SyntaxIndex) -> list[Piece] | None:
    """Return the statements that the edits of one fix change, with parentheses around new expressions that
    would otherwise be parsed as parts of another; None if the changed program would not parse.
    """
    found: list[Piece] = []
    for piece in _pieces(edits, syntax):
        mended = _mended(piece, syntax)
        if mended is None:
            return None
        found.append(mended)
    return found


def _pieces(edits: Sequence[Edit], syntax: SyntaxIndex) -> list[Piece]:
    """Return the smallest statements that contain the edits, in order; none contains another."""
    spans: list[tuple[int, int, list[Edit]]] = []
    neighbours: dict[int, ast.stmt] = {}
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        neighbour = _next_to_insertion(edit, syntax)
        if neighbour is not None and _is_long(neighbour, syntax) and _begins_line(edit, syntax):
            start = end = edit.start
            neighbours[start] = neighbour
        elif neighbour is not None:
            start, end = _lines(neighbour, syntax)
        else:
            start, end = _around(edit.start, edit.end, syntax)
        held = [edit]
        while spans and start < spans[-1][1]:
            before, following, others = spans.pop()
            start, end = _around(min(start, before), max(end, following), syntax)
            held = [*others, *held]
        spans.append((start, end, held))
    found: list[Piece] = []
    for start, end, held in spans:
        piece = Piece(start, end, tuple(held))
        if start == end and start in neighbours:
            stand_in = f"{_indentation(held[0].text)}pass\n"
            found.append(replace(piece, neighbour=neighbours[start], stand_in=stand_in))
        else:
            found.append(_without_statement(_narrowed(piece, syntax), len(edits), syntax))
    return found


def _is_long(statement: ast.stmt, syntax: SyntaxIndex) -> bool:
    start, end = _lines(statement, syntax)
    return end - start >= _LONG


def _begins_line(edit: Edit, syntax: SyntaxIndex) -> bool:
    return edit.start == 0 or syntax.text[edit.start - 1] in "\r\n"


def _narrowed(piece: Piece, syntax: SyntaxIndex) -> Piece:
    """Return the item of a long statement that contains all edits of a piece; the piece itself if there is
    none.
    """
    first, last = piece.edits[0].start, max(edit.end for edit in piece.edits)
    if piece.end - piece.start < _LONG:
        return piece
    node: ast.AST | None = syntax.expression_before(first)
    while node is not None and not isinstance(node, ast.stmt):
        parent = syntax.parents.get(node)
        if (
            isinstance(node, ast.expr)
            and isinstance(parent, _HOLDING_ITEMS)
            and not isinstance(node, ast.Starred)
        ):
            start, end = syntax.positions.span(node)
            if start <= first and last <= end and _is_item(node, parent):
                return Piece(start, end, piece.edits, node)
        node = parent
    return piece


def _without_statement(piece: Piece, count: int, syntax: SyntaxIndex) -> Piece:
    """Return a piece with a stand-in for its statement, if its edits delete all of it and more statements of
    the block remain, whatever the `count` edits of the fix delete: the block need not be parsed.
    """
    lines = syntax.text[piece.start : piece.end]
    if piece.item is not None or piece.rendered(syntax.text).strip():
        return piece
    statement = syntax.statement_in(piece.start, piece.end)
    if not isinstance(statement, ast.stmt) or _lines(statement, syntax) != (piece.start, piece.end):
        return piece
    if len(syntax.block(statement)[0]) <= count:
        return piece
    return replace(piece, stand_in=f"{_indentation(lines)}pass\n")


def _is_item(node: ast.expr, parent: ast.AST) -> bool:
    """Whether an expression is between commas, so that it has the same meaning in parentheses."""
    if isinstance(parent, ast.Call):
        return node is not parent.func and not isinstance(node, ast.GeneratorExp)
    return True


def _around(
    start: int, end: int, syntax: SyntaxIndex, without: tuple[int, int] | None = None
) -> tuple[int, int]:
    """Return the lines of the smallest statement that contains a span, as offsets; those of the file if there
    is none. `without` are lines that are too small.
    """
    found = (0, len(syntax.text))
    blocks: list[Sequence[_InBlock]] = [syntax.module.body]
    while blocks:
        holding = (_holding(block, start, end, syntax) for block in blocks)
        statement = next((each for each in holding if each is not None), None)
        if statement is None:
            return found
        lines = _lines(statement, syntax)
        if lines == without:
            return found
        if isinstance(statement, ast.stmt):
            found = lines
        blocks = [part for name in _BLOCKS if (part := getattr(statement, name, None))]
    return found


def _next_to_insertion(edit: Edit, syntax: SyntaxIndex) -> ast.stmt | None:
    """Return the smaller of the statements between which an edit inserts whole lines of the same indentation:
    the code around them, such as a long loop before, need not be parsed again. None for others.
    """
    if edit.start != edit.end or not edit.text.strip() or not edit.text.endswith(("\n", "\r")):
        return None
    wanted = _indentation(edit.text)
    found: list[ast.stmt] = []
    blocks: list[Sequence[_InBlock]] = [syntax.module.body]
    while blocks:
        holding = None
        for block in blocks:
            place = bisect_left(block, edit.start, key=lambda part: _lines(part, syntax)[1])
            adjacent = [part for part in block[place : place + 2] if isinstance(part, ast.stmt)]
            found += [part for part in adjacent if edit.start in _lines(part, syntax)]
            if holding is None and place < len(block) and _lines(block[place], syntax)[0] <= edit.start:
                holding = block[place]
        blocks = [part for name in _BLOCKS if (part := getattr(holding, name, None))]
    equal = [part for part in found if _indentation(syntax.text[slice(*_lines(part, syntax))]) == wanted]
    return min(equal, key=lambda part: _lines(part, syntax)[1] - _lines(part, syntax)[0], default=None)


def _holding(block: Sequence[_InBlock], start: int, end: int, syntax: SyntaxIndex) -> _InBlock | None:
    """Return the first part of a block that contains a span."""
    place = bisect_left(block, end, key=lambda part: _lines(part, syntax)[1])
    return block[place] if place < len(block) and _lines(block[place], syntax)[0] <= start else None


def _lines(part: _InBlock, syntax: SyntaxIndex) -> tuple[int, int]:
    first, last = _first_and_last(part)
    return syntax.positions.line_start(first), syntax.positions.line_start(last + 1)


def _first_and_last(part: _InBlock) -> tuple[int, int]:
    if isinstance(part, ast.match_case):
        return part.pattern.lineno, _first_and_last(part.body[-1])[1]
    decorators: list[ast.expr] = getattr(part, "decorator_list", [])
    return min([part.lineno, *(node.lineno for node in decorators)]), part.end_lineno or part.lineno


def _mended(piece: Piece, syntax: SyntaxIndex) -> Piece | None:
    """Return a piece with edits in parentheses if they need some; None if the program would not parse."""
    text = syntax.text
    start, end = piece.start, piece.end
    while True:
        is_own = (start, end) == (piece.start, piece.end)
        wider = piece if is_own else Piece(start, end, piece.edits)
        before = _tree(replace(wider, edits=()).rendered(text), syntax.grammar)
        if before is not None:
            mended = _with_parentheses(wider, before, text, syntax.grammar)
            if mended is not None:
                return replace(wider, edits=tuple(mended))
        if (start, end) == (0, len(text)):
            return None
        start, end = _around(start, end, syntax, without=(start, end))


def _with_parentheses(piece: Piece, before: ast.Module, text: str, grammar: Grammar) -> Sequence[Edit] | None:
    edits = list(piece.edits)
    for number, edit in enumerate(edits):
        wrapped = _wrapped(edit, piece, before, text, grammar)
        if wrapped is None:
            continue
        plain = _tree(replace(piece, edits=tuple(edits)).rendered(text), grammar)
        others = [*edits[:number], wrapped, *edits[number + 1 :]]
        if not _is_same(_tree(replace(piece, edits=tuple(others)).rendered(text), grammar), plain):
            edits = others
    lines = replace(piece, edits=tuple(edits)).rendered(text)
    is_equal = _indentation(lines) == _indentation(replace(piece, edits=()).rendered(text))
    return edits if is_equal and _tree(lines, grammar) is not None else None


def _indentation(lines: str) -> str:
    """Return the white space before the first statement of whole lines, comments included."""
    shown = lines.lstrip()
    return lines[: len(lines) - len(shown)].rpartition("\n")[2]


def _wrapped(edit: Edit, piece: Piece, before: ast.Module, text: str, grammar: Grammar) -> Edit | None:
    """Return an edit that replaces one expression by another, with parentheses; None for other edits, and
    where parentheses make no difference.
    """
    if edit.start == edit.end or not edit.text.strip() or isinstance(edit, WrittenEdit):
        return None
    new, plain = _expression(f"({edit.text})", grammar), _expression(edit.text, grammar)
    if new is None or (plain is not None and isinstance(plain, _ATOMS)):
        return None
    if isinstance(new, ast.Tuple) and (plain is None or not same_code(_inside(edit.text, grammar), plain)):
        return None  # several arguments or items
    if isinstance(new, ast.GeneratorExp) and plain is None:
        return None
    old = replace(piece, edits=(replace(edit, text=f"({text[edit.start : edit.end]})"),))
    if not _is_same(_tree(old.rendered(text), grammar), before):
        return None  # the replaced text was not an expression
    return replace(edit, text=f"({edit.text})")


def _inside(text: str, grammar: Grammar) -> ast.AST:
    """Return how an expression that may be a tuple parses as the only item of another."""
    one = _expression(f"({text},)", grammar)
    return one.elts[0] if isinstance(one, ast.Tuple) and len(one.elts) == 1 else ast.Pass()


def _expression(text: str, grammar: Grammar) -> ast.expr | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return grammar.expression(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _tree(lines: str, grammar: Grammar) -> ast.Module | None:
    """Return the tree of whole lines of a program; None if they are not statements, or are indented
    differently from their first line.
    """
    parsed = parsed_lines(lines, grammar)
    return parsed[0].module if parsed is not None else None


def _is_same(one: ast.AST | None, other: ast.AST | None) -> bool:
    return one is other or (other is not None and same_code(one, other))


def parsed_lines(lines: str, grammar: Grammar) -> tuple[Reading, str] | None:
    """Parse whole lines of a program; return the tree and its text, in which indented lines are preceded by a
    header. None if they are not statements.
    """
    indented = lines[:1] in (" ", "\t")
    text = f"{_HEADER}{lines}" if indented else lines
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reading = grammar.read(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    module = reading.module
    if not module.body:
        return None
    if indented:
        block, indent = module.body[0], len(lines) - len(lines.lstrip(" \t"))
        if not isinstance(block, ast.If) or len(module.body) > 1 or block.orelse:
            return None
        if block.body[0].col_offset != indent:
            return None
    return reading, text
