"""Find the constructs of a newer file that the running Python cannot parse, by LibCST."""

from __future__ import annotations

import ast
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from rlint.parsing.constructs import (
    Alias,
    Construct,
    ExceptStar,
    Group,
    Hole,
    Literal,
    Replacement,
    StringPart,
    Text,
    TypeParameter,
    TypeParameters,
    Unpacking,
    holes_of,
)
from rlint.parsing.imported_libcst import cst, metadata
from rlint.regex import regex

_TEMPLATE = regex(rb"(?<!\w)(?:([tT])([rR]?)|([rR])([tT]))(?=['\"])")
_TARGET_IN_PARENTHESES = regex(rb"^([ \t]*)\(([\w.]+)\)(?=[ \t]*:[^=])", re.MULTILINE)
_ERROR_PLACE = regex(r"error at (\d+):(\d+)")
_STRING = regex(r"([A-Za-z]*)('''|\"\"\"|'|\")")
_BLANKS = regex(rb"(?:[ \t\f]|\\\r?\n|\\\r)*")
_BLANKS_AND_COMMENTS = regex(rb"(?:\s|#[^\r\n]*)*")
_CONVERSIONS = {"r": 114, "s": 115, "a": 97}
_ALL_READ_STARS = sys.version_info >= (3, 11)


class UnreadableError(Exception):
    """LibCST cannot parse the text either; `line` and `column` are the position of the error, if known."""

    def __init__(self, line: int = 0, column: int = 0) -> None:
        super().__init__(line, column)
        self.line = line
        self.column = column


class Python2Error(Exception):
    """The text is Python 2: `except Error, error:`."""


@lru_cache(maxsize=8)  # a file is read several times in a run, and LibCST is slow
def constructs_of_text(source: bytes) -> tuple[Hole, list[tuple[int, int]]]:
    """Return the constructs that the running Python cannot parse, in a hole that spans the whole text; and
    the spans of comments.
    """
    spans = _spans(_readable(source))
    finder = _Finder(source, spans)
    found = finder.constructs()
    whole = Hole(0, len(source))
    _nest(whole, found)
    comments = [
        (span.start, span.start + span.length) for node, span in spans.items() if type(node) is cst.Comment
    ]
    return whole, sorted(comments)


def _readable(source: bytes) -> bytes:
    """Return the text with syntax that LibCST cannot parse rewritten in the same length: t-strings beside
    others, `(name): annotation`.
    """
    source = _TEMPLATE.sub(lambda found: b"rf" if len(found[0]) > 1 else b"f", source)
    return _TARGET_IN_PARENTHESES.sub(rb"\1_\2_", source)


def _spans(source: bytes) -> Mapping[cst.CSTNode, metadata.CodeSpan]:
    try:
        module = cst.parse_module(source.decode())
    except cst.ParserSyntaxError as error:
        place = _ERROR_PLACE.search(str(error))
        raise UnreadableError(*(int(part) for part in place.groups()) if place else ()) from error
    except cst.CSTLogicError as error:
        raise UnreadableError from error
    code = module.code.encode()
    spans = metadata.MetadataWrapper(module, unsafe_skip_copy=True).resolve(metadata.ByteSpanPositionProvider)
    return spans if code == source else _moved(spans, code, source)


def _moved(
    spans: Mapping[cst.CSTNode, metadata.CodeSpan], code: bytes, source: bytes
) -> Mapping[cst.CSTNode, metadata.CodeSpan]:
    """Map spans to their positions in the text. LibCST loses some blanks: that of `except Error :`."""
    lost: list[int] = []  # after this many bytes of the code
    place = 0
    for byte in source:
        if place < len(code) and byte == code[place]:
            place += 1
        elif byte in b" \t":
            lost.append(place)
        else:
            raise UnreadableError
    if place < len(code):
        raise UnreadableError
    found = {}
    for node, span in spans.items():
        start, end = span.start, span.start + span.length
        start += bisect_right(lost, start)
        end += bisect_right(lost, end - 1) if span.length else bisect_right(lost, end)
        found[node] = metadata.CodeSpan(start, end - start)
    return found


def _nest(whole: Hole, found: Sequence[Construct]) -> None:
    """Put each construct into the smallest hole that contains it."""
    parts: list[tuple[int, int, int, Construct | Hole]] = []
    for construct in found:
        # the exceptions of a group are all of it
        parts.append((construct.start, -construct.end, 0 if isinstance(construct, Group) else 2, construct))
        parts += ((hole.start, -hole.end, 1, hole) for hole in holes_of(construct))
    parts.sort(key=lambda part: part[:3])
    around = [whole]
    for _, _, _, part in parts:
        while around[-1].end <= part.start:
            around.pop()
        if isinstance(part, Hole):
            around.append(part)
        else:
            around[-1].constructs.append(part)


class _Finder:
    """Visits all nodes of one file."""

    def __init__(self, source: bytes, spans: Mapping[cst.CSTNode, metadata.CodeSpan]) -> None:
        self._source = source
        self._spans = spans

    def constructs(self) -> list[Construct]:
        strings: dict[cst.CSTNode, cst.CSTNode] = {}  # parts of concatenated strings
        found: list[Construct] = []
        for node in self._spans:
            if type(node) is cst.ConcatenatedString:
                strings[node.left] = strings[node.right] = node
        for node in self._spans:
            match node:
                case cst.FormattedString() | cst.ConcatenatedString() if node not in strings:
                    text = self._text(node)
                    if text is not None:
                        found.append(text)
                case cst.FunctionDef() | cst.ClassDef() if node.type_parameters is not None:
                    found.append(self._parameters_of(node, node.type_parameters))
                case cst.TypeAlias():
                    found.append(self._alias(node))
                case (
                    cst.ExceptHandler(type=cst.Tuple(lpar=[]) as group)
                    | cst.ExceptStarHandler(type=cst.Tuple(lpar=[]) as group)
                ):
                    self._refuse_python_2(group)
                    found.append(Group(*self._hole(group), Hole(*self._hole(group))))
                case cst.Index(star="*") | cst.Annotation(annotation=cst.StarredElement()):
                    if not _ALL_READ_STARS:
                        found.append(self._unpacking(node))
            if type(node) is cst.ExceptStarHandler and not _ALL_READ_STARS:
                star = self._source.index(b"*", self._start(node))
                found.append(ExceptStar(star, star + 1))
        return found

    def _start(self, node: cst.CSTNode) -> int:
        return self._spans[node].start

    def _end(self, node: cst.CSTNode) -> int:
        span = self._spans[node]
        return span.start + span.length

    def _hole(self, node: Any) -> tuple[int, int]:
        """Return the span of an expression, including parentheses around it."""
        left, right = getattr(node, "lpar", ()), getattr(node, "rpar", ())
        return self._start(left[0] if left else node), self._end(right[-1] if right else node)

    # -- strings ---------------------------------------------------------------------------------

    def _text(self, node: cst.FormattedString | cst.ConcatenatedString) -> Text | None:
        pieces: list[StringPart] = []
        templates: list[int] = []
        is_broken = False
        parts = list(_parts(node))
        for part in parts:
            start, end = self._span_of_string(part)
            opening = _STRING.match(self._source[start : start + 6].decode("ascii", "replace"))
            assert opening is not None
            prefix, quote = opening[1].lower(), opening[2]
            if isinstance(part, cst.SimpleString):
                pieces.append(Literal(start, end, prefix))
                continue
            if "t" in prefix:
                templates.append(start + prefix.index("t"))
            own = self._pieces(part.parts, prefix, quote)
            fields = [piece for piece in own if isinstance(piece, Replacement)]
            if len(quote) == 1:
                is_broken |= any(_has_line_end(self._source[each.start : each.end]) for each in fields)
            pieces += own
        if not templates and not any(isinstance(piece, Replacement) for piece in pieces):
            return None
        if templates and len(templates) < len(parts):  # t-strings can only be adjacent to t-strings
            raise UnreadableError
        return Text(
            self._span_of_string(parts[0])[0],
            self._span_of_string(parts[-1])[1],
            tuple(pieces),
            tuple(templates),
            is_broken,
        )

    def _span_of_string(self, node: cst.CSTNode) -> tuple[int, int]:
        return self._start(node), self._end(node)

    def _pieces(self, parts: Sequence[cst.CSTNode], prefix: str, quote: str) -> list[StringPart]:
        found: list[StringPart] = []
        for part in parts:
            start, end = self._start(part), self._end(part)
            if not isinstance(part, cst.FormattedStringExpression):
                found.append(Literal(start, end, prefix, quote))
                continue
            debug_end = None
            if part.equal is not None:
                after = _BLANKS_AND_COMMENTS.match(self._source, self._start(part.equal) + 1)
                assert after is not None
                debug_end = after.end()
            conversion = _CONVERSIONS.get(part.conversion or "", -1)
            if debug_end is not None and part.conversion is None and part.format_spec is None:
                conversion = _CONVERSIONS["r"]
            spec, spec_start = None, end - 2
            if part.format_spec is not None:
                spec = tuple(self._pieces(part.format_spec, prefix, quote))
                spec_start = spec[0].start - 1 if spec else spec_start
            value = Hole(*self._hole(part.expression))
            found.append(Replacement(start, end, value, conversion, debug_end, spec, spec_start))
        return found

    # -- type parameters -------------------------------------------------------------------------

    def _parameters_of(self, node: cst.FunctionDef | cst.ClassDef, given: cst.TypeParameters) -> Construct:
        start, end = self._start(given), self._end(given)
        name = self._start(node.name)
        kind: type[ast.AST]
        if isinstance(node, cst.ClassDef):
            kind, owner = ast.ClassDef, name - len(node.whitespace_after_class.value) - len("class")
        elif node.asynchronous is not None:
            kind, owner = ast.AsyncFunctionDef, self._start(node.asynchronous)
        else:
            kind, owner = ast.FunctionDef, name - len(node.whitespace_after_def.value) - len("def")
        blanks = _BLANKS.match(self._source, end)
        assert blanks is not None
        after = blanks.end()
        parenthesis = after if self._source[after : after + 1] == b"(" else None
        return TypeParameters(start, end, owner, kind, parenthesis, self._parameters(given))

    def _parameters(self, given: cst.TypeParameters | None) -> tuple[TypeParameter, ...]:
        return tuple(self._parameter(each) for each in given.params) if given is not None else ()

    def _parameter(self, node: cst.TypeParam) -> TypeParameter:
        parameter = node.param
        stars = (
            0 if isinstance(parameter, cst.TypeVar) else 1 if isinstance(parameter, cst.TypeVarTuple) else 2
        )
        end = self._end(parameter.name)
        bound = default = star = None
        if isinstance(parameter, cst.TypeVar) and parameter.bound is not None:
            bound = Hole(*self._hole(parameter.bound))
            end = bound.end
        if node.default is not None:
            default = Hole(*self._hole(node.default))
            if node.star:
                star = self._source.rindex(b"*", end, default.start)
            end = default.end
        return TypeParameter(self._start(node), end, stars, parameter.name.value, bound, default, star)

    def _alias(self, node: cst.TypeAlias) -> Alias:
        value = Hole(*self._hole(node.value))
        parameters = self._parameters(node.type_parameters)
        name = node.name
        return Alias(self._start(node), value.end, name.value, self._start(name), parameters, value)

    # -- others ----------------------------------------------------------------------------------

    def _unpacking(self, node: cst.Index | cst.Annotation) -> Unpacking:
        if isinstance(node, cst.Index):
            value = Hole(*self._hole(node.value))
            return Unpacking(self._start(node), value.end, value)
        element = node.annotation
        assert isinstance(element, cst.StarredElement)
        value = Hole(*self._hole(element.value))
        return Unpacking(self._start(element), value.end, value)

    def _refuse_python_2(self, group: cst.Tuple) -> None:
        """Refuse `except Error, error:` with a name that is not a class, and bound nowhere else."""
        if len(group.elements) != 2:
            return
        second = group.elements[1].value
        if not isinstance(second, cst.Name) or second.value.lstrip("_")[:1].isupper():
            return
        for node in self._spans:
            match node:
                case (
                    cst.ImportStar()
                    | cst.ImportAlias(name=cst.Name(value=second.value), asname=None)
                    | cst.AsName(name=cst.Name(value=second.value))
                    | cst.AssignTarget(target=cst.Name(value=second.value))
                    | cst.ClassDef(name=cst.Name(value=second.value))
                    | cst.Param(name=cst.Name(value=second.value))
                ):
                    return
        raise Python2Error


def _parts(node: cst.CSTNode) -> Iterator[cst.SimpleString | cst.FormattedString]:
    """Yield adjacent strings, in order."""
    stack: list[Any] = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.ConcatenatedString):
            stack += (current.right, current.left)
        else:
            yield current


def _has_line_end(text: bytes) -> bool:
    return b"\n" in text or b"\r" in text
