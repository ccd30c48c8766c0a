"""LibCST and its matchers for rlint's own rules: imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import libcst as cst
    from libcst import matchers
else:

    class _Lazy:
        """A module that is imported when its first name is read."""

        def __init__(self, name: str) -> None:
            self.__name__ = name

        def __getattr__(self, name: str) -> Any:
            """Import the module, and return its attribute."""
            import importlib

            from rlint.parsing.imported_libcst import methods_compiled_when_called

            with methods_compiled_when_called():
                found = getattr(importlib.import_module(self.__name__), name)
            vars(self)[name] = found
            return found

    cst, matchers = _Lazy("libcst"), _Lazy("libcst.matchers")

__all__ = ["cst", "matchers"]
