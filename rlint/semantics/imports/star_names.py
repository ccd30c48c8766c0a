"""Names that a file does not bind itself: builtins, and those bound by `from module import *`.

They are read from the top-level lines of the modules' files, without parsing them, because they are needed
before other files are summarised. A name that two modules bind, or whose meaning is unknown, is left to the
index (`SymbolTable.symbol`).
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from pathlib import Path

from rlint import models
from rlint.models import vocabulary
from rlint.semantics.imports.star_exports import exported

_BUILTINS = frozenset(dir(builtins))


class StarNames:
    """The names that a file gets from `from module import *` or from builtins. `sources` are the modules, in
    order; `path` is the file itself, None if there is no project.
    """

    def __init__(self, module: str, sources: Sequence[str], path: Path | None) -> None:
        self._module = module
        self._sources = tuple(sources)
        self._path = path
        self._names: dict[str, str | None] | None = None

    def target(self, name: str) -> str | None:
        """Return the dotted name for a name that the file does not bind itself; None if no module binds
        it.
        """
        sources = self._sources
        for module in sources if name not in _BUILTINS else ():
            if models.callable_fact(f"{module}.{name}") is not None:
                return f"{module}.{name}"
        target = self._in_files(name)
        if target is not None:
            return target
        if name in _BUILTINS:
            return f"builtins.{name}"
        if not sources:
            return None
        if not all(map(models.is_library, sources)):
            library = vocabulary.SHORT_NAMES.get(name, name)
            if models.is_library(library):
                return library  # imported by the starred module, which re-exports it
        # with several, the index finds the one that defines it
        return f"{sources[0] if len(sources) == 1 else self._module}.{name}"

    def _in_files(self, name: str) -> str | None:
        """Return what the files of the starred modules bind the name to."""
        if self._path is None:
            return None
        if self._names is None:
            self._names = {}
            for source in self._sources:
                self._names.update(exported(source, self._path, ()))
        return self._names.get(name)
