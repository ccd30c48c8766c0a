"""Regular expressions that are compiled on first use.

A run uses few of the 150 that rlint's modules define. Compiling all of them takes 12 ms, as long as checking
a file.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return an object that is used like `re.compile(pattern, flags)`. Errors in it are raised on first
    use.
    """
    return cast("re.Pattern[AnyStr]", _Waiting(pattern, flags))


class _Waiting:
    """A pattern that is not compiled yet. From its first use on, its methods are those of the compiled
    one.
    """

    def __init__(self, pattern: Any, flags: int) -> None:
        self._made_of = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        compiled = re.compile(*self._made_of)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)
