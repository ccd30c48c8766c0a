"""Settings that a program reads from the variables of its environment."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_READS = frozenset({"os.environ.get", "os.getenv"})
_CONVERSIONS: dict[str, Callable[[Any], object]] = {"bool": bool, "int": int}


def of_environment(
    call: ast.Call,
    qualified: Callable[[ast.expr], str | None],
    values_of: Callable[[ast.expr], frozenset[object] | None],
) -> frozenset[object] | None:
    """Return the default of a variable of the environment, perhaps converted: `int(os.getenv("DEBUG", "0"))`,
    `os.environ.get("COMPRESS", "on").lower()`. None for other calls.
    """
    match call:
        case ast.Call(func=ast.Attribute(value=text, attr="lower" | "upper" | "strip" as method), args=[]):
            known = values_of(text) or frozenset()
            return frozenset(getattr(each, method)() for each in known if isinstance(each, str)) or None
        case ast.Call(func=ast.Name(id="bool" | "int" as name), args=[given], keywords=[]):
            with suppress(TypeError, ValueError):
                return frozenset(_CONVERSIONS[name](each) for each in values_of(given) or ()) or None
        case ast.Call(func=func, args=[ast.Constant(), ast.Constant(value=default)]):
            return frozenset({default}) if qualified(func) in _READS else None
    return None
