"""Comparison of rlint's version with `required-version`."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from rlint.errors import RlintError
from rlint.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable

_OPERATORS: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}

_CLAUSE = regex(r"(==|!=|>=|<=|~=|>|<)?\s*(\d+(?:\.\d+)*)")


def satisfies(version: str, required: str) -> bool:
    """Whether `version` meets every clause of `required`, such as ">=0.1,<0.3" or "0.1.0"."""
    actual = _numbers(version)
    for clause in required.split(","):
        match = _CLAUSE.fullmatch(clause.strip())
        if match is None:
            raise RlintError(f'`required-version` must be like ">=0.1,<0.3" or "0.1.0", not {required!r}')
        sign, wanted = match[1] or "==", _numbers(match[2])
        if sign == "~=":
            held = match[2].count(".")
            if actual < wanted or actual[:held] != wanted[:held]:
                return False
        elif not _OPERATORS[sign](actual, wanted):
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in version.split(".")]
    return tuple(numbers + [0] * (4 - len(numbers)))
