"""LibCST, imported in a quarter of the time. It defines 170 dataclasses, for each of which `dataclasses`
compiles six methods; few of them are ever called.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_compiled = getattr(dataclasses, "_create_fn", None)
"""What makes a method from its text. From Python 3.13 on, `dataclasses` compiles all methods of a class at
once, and is left alone.
"""


@contextmanager
def methods_compiled_when_called() -> Iterator[None]:
    """Compile methods of the dataclasses defined meanwhile only when they are first called."""
    if _compiled is None:
        yield
        return
    setattr(dataclasses, "_create_fn", _later)  # noqa: B010
    try:
        yield
    finally:
        setattr(dataclasses, "_create_fn", _compiled)  # noqa: B010


def _later(name: str, *given: Any, **named: Any) -> Callable[..., Any]:
    """Return a method that puts the compiled one in its place, in all classes that have it, and calls it."""

    def method(self: Any, /, *arguments: Any, **keywords: Any) -> Any:
        assert _compiled is not None
        made = _compiled(name, *given, **named)
        made.__qualname__ = method.__qualname__
        for cls in type(self).__mro__:
            if cls.__dict__.get(name) is method:
                setattr(cls, name, made)
        return made(self, *arguments, **keywords)

    method.__name__ = name
    return method


with methods_compiled_when_called():
    import libcst as cst
    from libcst import metadata

__all__ = ["cst", "metadata"]
