"""Arguments that a call unpacks from a value: `learn(*buffer.sample(32))`, `x.to(**options)`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from rlint.models.value_type import UNKNOWN, Type, TypeTag
from rlint.semantics.types.algebra import item_of, part_of


def each_argument(
    arguments: Sequence[tuple[str, Type]],
    unpacked: Mapping[str, Type],
    parameters: Sequence[str],
    resolve: Callable[[Type], Type],
) -> list[tuple[str, Type]]:
    """Return the arguments of a call by position or name, where some may be unpacked: the value at their
    position, or at "**". After a value of unknown length, those given by position are unknown.
    """
    found: list[tuple[str, Type]] = []
    position = 0
    rest: Type | None = None
    for place, kind in arguments:
        if not place.isdigit():
            found.append((place, kind))
        elif rest is not None:
            rest = UNKNOWN
        elif place not in unpacked:
            found.append((str(position), kind))
            position += 1
        else:
            whole = resolve(unpacked[place])
            if whole.parts and whole.tag is TypeTag.TUPLE:
                found += [(str(position + index), part) for index, part in enumerate(whole.parts)]
                position += len(whole.parts)
            else:
                rest = whole
    if rest is not None:
        for index in range(len(parameters) - position):
            found.append((str(position + index), part_of(rest, index)))
    if "**" in unpacked:
        found += _named(resolve(unpacked["**"]), parameters, {name for name, _ in found})
    return found


def _named(options: Type, parameters: Sequence[str], given: set[str]) -> list[tuple[str, Type]]:
    """Return the arguments that `**options` passes to the parameters that are not given otherwise."""
    if options.tag is TypeTag.DICT and options.keys:
        return list(zip(options.keys, options.parts, strict=True))
    item = item_of(options) if options.tag is TypeTag.DICT else UNKNOWN
    others = (name for place, name in enumerate(parameters) if str(place) not in given and name not in given)
    return [(name, item) for name in others]


def unpacked_options(call: ast.Call, type_of: Callable[[ast.expr], Type]) -> dict[str, Type] | None:
    """Return the keyword arguments that `**` passes, by name; None if the keys of a dict are not known."""
    found: dict[str, Type] = {}
    for keyword in call.keywords:
        if keyword.arg is not None:
            continue
        kind = type_of(keyword.value)
        if kind.tag is not TypeTag.DICT or not kind.keys or len(kind.keys) != len(kind.parts):
            return None
        found |= zip(kind.keys, kind.parts, strict=True)
    return found
