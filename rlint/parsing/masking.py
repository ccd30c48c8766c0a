"""Mask newer syntax: text of the same length and lines that the running Python can parse. The replacement of
a construct adds no names or values, and all other bytes stay as they are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from rlint.parsing.constructs import (
    Alias,
    Construct,
    ExceptStar,
    Group,
    Hole,
    Replacement,
    Text,
    TypeParameters,
    Unpacking,
)

STAND_IN = "_"
"""The name in place of a statement or an expression."""


class Masker:
    """Masks the constructs of one text."""

    def __init__(self, source: bytes, comments: Sequence[tuple[int, int]]) -> None:
        self._source = source
        self._comments = comments

    def masked(self, hole: Hole) -> bytes:
        """Return the text of a hole with its constructs masked."""
        buffer = _Buffer(self._source, hole)
        for construct in hole.constructs:
            self._mask(construct, buffer)
        return bytes(buffer.text)

    def _mask(self, construct: Construct, buffer: _Buffer) -> None:
        start, end = construct.start, construct.end
        match construct:
            case Text(is_broken=True):
                self._blank(start, end, buffer)
                buffer.put(start, b'(""')
                buffer.put(end - 1, b")")
            case Text(pieces=pieces, prefixes=prefixes):
                for piece in pieces:
                    if isinstance(piece, Replacement):
                        buffer.blank(piece.start, piece.end)
                for place in prefixes:
                    buffer.put(place, b"f")
            case Alias():
                self._blank(start, end, buffer)
                buffer.put(start, f"({STAND_IN}".encode())
                buffer.put(end - 1, b")")
            case TypeParameters(parenthesis=parenthesis):
                # the parentheses of the definition begin at the bracket, which may contain line breaks
                after = end if parenthesis is None else parenthesis + 1
                self._blank(start, after, buffer)
                buffer.put(start, b"(")
                if parenthesis is None:
                    buffer.put(end - 1, b")")
            case Group() | Unpacking():
                self._blank(start, end, buffer)
                is_broken = any(end_of_line in self._source[start:end] for end_of_line in (b"\n", b"\r"))
                # the construct around it ends at the same position
                buffer.put(start, STAND_IN.encode() * (1 if is_broken else end - start))
            case ExceptStar():
                buffer.blank(start, end)

    def _blank(self, start: int, end: int, buffer: _Buffer) -> None:
        """Blank a span, except for the comments in it."""
        first = bisect_left(self._comments, (start, 0))
        done = start
        for comment_start, comment_end in self._comments[first:]:
            if comment_start >= end:
                break
            buffer.blank(done, comment_start)
            done = comment_end
        buffer.blank(done, end)


class _Buffer:
    """A part of a text that is overwritten; positions are those of the text."""

    def __init__(self, source: bytes, hole: Hole) -> None:
        self.text = bytearray(source[hole.start : hole.end])
        self._start = hole.start

    def put(self, place: int, text: bytes) -> None:
        start = place - self._start
        self.text[start : start + len(text)] = text

    def blank(self, start: int, end: int) -> None:
        span = slice(start - self._start, end - self._start)
        self.text[span] = bytes(byte if byte in b"\r\n" else 32 for byte in self.text[span])


def by_characters(text: str, mask: bytes) -> str:
    """Return a mask with as many characters as the text, for clients that count in characters."""
    if len(mask) == len(text):
        return mask.decode()
    found: list[str] = []
    place = 0
    for character in text:
        size = len(character.encode())
        part = mask[place : place + size]
        found.append(part.decode() if size == 1 or part[0] > 127 else " ")
        place += size
    return "".join(found)
