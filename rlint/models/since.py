"""The library versions that introduced functions, methods and keywords, collected from the rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from rlint.frozen import frozen
from rlint.models.by_trait import CALLABLES, METHODS
from rlint.models.value_type import TypeTag

PYTHON, TORCH, NUMPY = "python", "torch", "numpy"

SYNTAX = {":=": "3.8"}
"""Tokens that are newer than the oldest Python a project may support."""

_OF_NUMPY = frozenset({TypeTag.NDARRAY, TypeTag.NUMPY_SCALAR, TypeTag.RANDOM_GENERATOR, TypeTag.DTYPE})
_OF_PYTHON = frozenset({TypeTag.STR, TypeTag.BYTES, TypeTag.LIST, TypeTag.DICT, TypeTag.SET, TypeTag.TUPLE})


@frozen
class Introduced:
    """The version that introduced a function or method, and those that introduced its keywords."""

    library: str
    version: str
    keywords: tuple[tuple[str, str], ...]


@cache
def functions() -> dict[str, Introduced]:
    """Return the versions of functions and classes, by their canonical names."""
    rows = ((name, fact.since) for name, fact in CALLABLES.items() if fact.since)
    return {name: _introduced(_library(name), since) for name, since in rows}


@cache
def methods() -> dict[str, Introduced]:
    """Return the versions of methods, by their plain names; if types differ, the latest version counts."""
    found: dict[str, Introduced] = {}
    for tag, table in METHODS.items():
        library = NUMPY if tag in _OF_NUMPY else PYTHON if tag in _OF_PYTHON else TORCH
        for name, fact in table.items():
            if fact.since:
                found[name] = _introduced(library, fact.since)
    return found


@cache
def words_of_newer_code() -> frozenset[str]:
    """Return all names with a known version: other code requires no particular version."""
    known = list(_all())
    names = {name.rpartition(".")[2] for name, introduced in known if introduced.version}
    return frozenset(names | {word for _, introduced in known for word, _ in introduced.keywords})


def _all() -> Iterator[tuple[str, Introduced]]:
    yield from functions().items()
    yield from methods().items()


def _library(name: str) -> str:
    root = name.partition(".")[0]
    return root if root in (TORCH, NUMPY) else PYTHON


def _introduced(library: str, since: str) -> Introduced:
    version, keywords = "", []
    for part in since.split():
        word, equals, number = part.partition("=")
        if equals:
            keywords.append((word, number))
        else:
            version = part
    return Introduced(library, version, tuple(keywords))
