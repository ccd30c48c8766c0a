"""Constructs of newer Pythons that `ast` cannot parse: their positions and parts. All positions are offsets
of the text's UTF-8 bytes, in which `ast` counts columns.
"""

from __future__ import annotations

import ast
from dataclasses import field

from rlint.frozen import single


@single
class Hole:
    """An expression within a construct, including parentheses around it; or the whole text."""

    start: int
    end: int
    constructs: list[Construct] = field(default_factory=list)
    """Those in it, and in no hole of another."""


@single
class Literal:
    """Text between the fields of a string, or a whole string without fields beside one that has some."""

    start: int
    end: int
    prefix: str = ""
    quote: str = ""
    """Of the string that the text is a part of; none for a separate literal."""


@single
class Replacement:
    """A replacement field: `{value=!r:spec}`."""

    start: int
    end: int
    value: Hole
    conversion: int
    debug_end: int | None
    """The end of the text that `=` repeats."""
    spec: tuple[StringPart, ...] | None
    spec_start: int


StringPart = Literal | Replacement


@single
class Text:
    """An f-string or t-string, with adjacent strings."""

    start: int
    end: int
    pieces: tuple[StringPart, ...]
    prefixes: tuple[int, ...]
    """The positions of the letters `t` that make them t-strings."""
    is_broken: bool
    """Whether a field contains line breaks that a string of the running Python does not allow."""


@single
class TypeParameter:
    """`T: bound = default`, `*Ts`, `**P`."""

    start: int
    end: int
    stars: int
    name: str
    bound: Hole | None
    default: Hole | None
    default_star: int | None


@single
class TypeParameters:
    """The parameters in brackets of a function or class, which begins at `owner`."""

    start: int
    end: int
    owner: int
    kind: type[ast.AST]
    parenthesis: int | None
    """The opening one after them."""
    parameters: tuple[TypeParameter, ...]


@single
class Alias:
    """`type name[parameters] = value`"""

    start: int
    end: int
    name: str
    name_start: int
    parameters: tuple[TypeParameter, ...]
    value: Hole


@single
class Group:
    """The exceptions of `except A, B:`."""

    start: int
    end: int
    value: Hole


@single
class Unpacking:
    """`*value` in a subscript or an annotation."""

    start: int
    end: int
    value: Hole


@single
class ExceptStar:
    """The star of `except*`."""

    start: int
    end: int


Construct = Text | TypeParameters | Alias | Group | Unpacking | ExceptStar


def holes_of(construct: Construct) -> list[Hole]:
    """Return the expressions right within a construct."""
    match construct:
        case Text(pieces=pieces):
            return _holes_in(pieces)
        case TypeParameters(parameters=parameters):
            return _of_parameters(parameters)
        case Alias(parameters=parameters, value=value):
            return [*_of_parameters(parameters), value]
        case Group(value=value) | Unpacking(value=value):
            return [value]
        case ExceptStar():
            return []


def _holes_in(pieces: tuple[StringPart, ...]) -> list[Hole]:
    found: list[Hole] = []
    for piece in pieces:
        if isinstance(piece, Replacement):
            found += [piece.value, *_holes_in(piece.spec or ())]
    return found


def _of_parameters(parameters: tuple[TypeParameter, ...]) -> list[Hole]:
    return [hole for each in parameters for hole in (each.bound, each.default) if hole is not None]
