"""The tree of a newer file: that of its mask, with the constructs restored as in the newest Python."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from rlint.parsing import later_nodes
from rlint.parsing.constructs import (
    Alias,
    Construct,
    Group,
    Hole,
    Literal,
    Replacement,
    StringPart,
    Text,
    TypeParameter,
    TypeParameters,
    Unpacking,
)
from rlint.parsing.masking import Masker
from rlint.regex import regex

_LINE_END = regex(rb"\r\n|\r|\n")
_DOUBLED = regex(r"\{\{|\}\}")

_Node = TypeVar("_Node", bound=ast.AST)
_Key = tuple[int, type[ast.AST]]


class Restorer:
    """Builds the tree of one text."""

    def __init__(self, source: bytes, masks: Masker, comments: Sequence[tuple[int, int]]) -> None:
        self._source = source
        self._masks = masks
        self._comments = comments
        self._lines = [0, *(found.end() for found in _LINE_END.finditer(source))]

    def module(self, whole: Hole) -> ast.Module:
        """Return the tree of the whole text; raise SyntaxError if it is invalid."""
        module = ast.parse(self._masks.masked(whole).decode())
        self._restore(module, whole.constructs)
        return module

    # -- places ----------------------------------------------------------------------------------

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1]

    def _at(self, node: _Node, start: int, end: int) -> _Node:
        """Return a node with its place."""
        line, column = self._place(start)
        end_line, end_column = self._place(end)
        place = {"lineno": line, "col_offset": column, "end_lineno": end_line, "end_col_offset": end_column}
        vars(node).update(place)
        return node

    # -- putting back ----------------------------------------------------------------------------

    def _restore(self, root: ast.AST, constructs: Iterable[Construct]) -> None:
        waiting = {_key(construct): construct for construct in constructs}
        stack = [root]
        while stack and waiting:
            node = stack.pop()
            for name, value in list(ast.iter_fields(node)):
                if isinstance(value, list):
                    for number, child in enumerate(value):
                        if isinstance(child, ast.AST):
                            value[number] = self._restored(child, waiting, stack)
                elif isinstance(value, ast.AST):
                    setattr(node, name, self._restored(value, waiting, stack))
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Starred):
                items = ast.Tuple([node.slice], ast.Load())
                node.slice = ast.copy_location(items, node.slice)

    def _restored(self, node: ast.AST, waiting: dict[_Key, Construct], stack: list[ast.AST]) -> ast.AST:
        """Return the node that replaces a node: the node itself, unless it is a stand-in."""
        line = getattr(node, "lineno", None)
        key = (self._lines[line - 1] + node.col_offset, type(node)) if line is not None else None  # type: ignore[attr-defined]
        construct = waiting.pop(key, None) if key is not None else None
        match construct:
            case Text():
                return self._text(construct)
            case Alias():
                return self._alias(construct)
            case Group(value=value):
                return self._expression(value)
            case Unpacking(start=start, end=end, value=value):
                return self._at(ast.Starred(self._expression(value), ast.Load()), start, end)
            case TypeParameters(parameters=parameters):
                later_nodes.with_field(node, "type_params", [self._parameter(each) for each in parameters])
        stack.append(node)
        return node

    def _expression(self, hole: Hole) -> ast.expr:
        """Return the tree of the expression in a hole."""
        line, column = self._place(hole.start)
        try:
            text = f"(\n{' ' * column}{self._masks.masked(hole).decode()}\n)"
            found = ast.parse(text, mode="eval").body
        except SyntaxError as error:
            error.lineno = (error.lineno or 2) + line - 2
            raise
        is_bare = found.lineno == 1
        ast.increment_lineno(found, line - 2)
        if is_bare:  # the parentheses are those of a tuple without its own
            self._at(found, hole.start, hole.end)
        holder = ast.Expression(found)
        self._restore(holder, hole.constructs)
        return holder.body

    # -- strings ---------------------------------------------------------------------------------

    def _text(self, text: Text) -> ast.expr:
        is_template = bool(text.prefixes)
        kind = later_nodes.TEMPLATE_STR if is_template else ast.JoinedStr
        return self._at(kind(values=self._values(text.pieces, is_template=is_template)), text.start, text.end)

    def _values(self, pieces: Sequence[StringPart], *, is_template: bool) -> list[ast.expr]:
        """Return the values of a string: its fields, and the text between two of them as one constant."""
        found: list[ast.expr] = []
        between: list[tuple[str, int, int, str]] = []
        for piece in pieces:
            if isinstance(piece, Literal):
                between.append((self._value(piece), piece.start, piece.end, piece.prefix))
                continue
            if piece.debug_end is not None:
                start = piece.start + 1
                between.append((self._without_comments(start, piece.debug_end), start, piece.debug_end, ""))
            found += self._constant(between)
            found.append(self._field(piece, is_template=is_template))
            between = []
        return [*found, *self._constant(between)]

    def _constant(self, between: list[tuple[str, int, int, str]]) -> Iterator[ast.Constant]:
        value = "".join(part[0] for part in between)
        if value:
            kind = "u" if between[0][3] == "u" else None
            yield self._at(ast.Constant(value, kind=kind), between[0][1], between[-1][2])

    def _value(self, literal: Literal) -> str:
        """Return the value of a part of a string, as Python evaluates it."""
        written = self._source[literal.start : literal.end].decode()
        if literal.quote:
            prefix = "r" if "r" in literal.prefix else ""
            # a backslash at the end belongs to the brace after it
            plain = _DOUBLED.sub(lambda found: found[0][0], written)
            written = f"{prefix}{literal.quote}{plain}{{{literal.quote}"
        value = ast.literal_eval(written)
        assert isinstance(value, str)
        return value[:-1] if literal.quote else value

    def _without_comments(self, start: int, end: int) -> str:
        parts, done = [], start
        for first, last in self._comments:
            if start <= first < end:
                parts.append(self._source[done:first])
                done = last
        return _LINE_END.sub(b"\n", b"".join([*parts, self._source[done:end]])).decode()

    def _field(self, piece: Replacement, *, is_template: bool) -> ast.expr:
        spec = None
        if piece.spec is not None:
            values = self._values(piece.spec, is_template=False)
            spec = self._at(ast.JoinedStr(values), piece.spec_start, piece.end - 1)
        field: dict[str, Any] = {"conversion": piece.conversion, "format_spec": spec}
        value = self._expression(piece.value)
        if not is_template:
            return self._at(ast.FormattedValue(value=value, **field), piece.start, piece.end)
        written = self._source[piece.value.start : piece.value.end].decode()
        found: ast.expr = later_nodes.INTERPOLATION(value=value, str=written, **field)
        return self._at(found, piece.start, piece.end)

    # -- types -----------------------------------------------------------------------------------

    def _alias(self, alias: Alias) -> ast.AST:
        name_end = alias.name_start + len(alias.name.encode())
        name = self._at(ast.Name(alias.name, ast.Store()), alias.name_start, name_end)
        parameters = [self._parameter(each) for each in alias.parameters]
        found: ast.AST = later_nodes.TYPE_ALIAS(
            name=name, type_params=parameters, value=self._expression(alias.value)
        )
        return self._at(found, alias.start, alias.end)

    def _parameter(self, parameter: TypeParameter) -> ast.AST:
        kind = later_nodes.TYPE_PARAMETERS[(0, 2, 1)[parameter.stars]]
        found: ast.AST = kind(name=parameter.name)
        if not parameter.stars:
            bound = self._expression(parameter.bound) if parameter.bound is not None else None
            later_nodes.with_field(found, "bound", bound)
        default = None
        if parameter.default is not None:
            default = self._expression(parameter.default)
            if parameter.default_star is not None:
                starred = ast.Starred(default, ast.Load())
                default = self._at(starred, parameter.default_star, parameter.default.end)
        later_nodes.with_field(found, "default_value", default)
        return self._at(found, parameter.start, parameter.end)


def _key(construct: Construct) -> _Key:
    """Return the start of the node for a construct in the mask, and its class."""
    match construct:
        case Text(start=start, is_broken=True):
            return start + 1, ast.Constant
        case Text(start=start):
            return start, ast.JoinedStr
        case Alias(start=start):
            return start, ast.Expr
        case TypeParameters(owner=owner, kind=kind):
            return owner, kind
        case _:
            return construct.start, ast.Name
