"""Where a verification command runs: the copied folder, and what the command sees of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rlint.errors import RlintError

_HARMLESS = {"test"}
"""Python's own tests, which no program needs; many projects have a package of that name in their root."""


@dataclass(frozen=True, slots=True)
class TrialPlace:
    """The folder to copy, and the working folder below it. Both without links."""

    root: Path
    working: Path
    """Relative to `root`."""

    @classmethod
    def around(cls, folder: Path) -> TrialPlace:
        """Return the repository that contains `folder`; the folder itself, if there is none."""
        real = Path(os.path.realpath(folder))
        root = next((each for each in (real, *real.parents) if os.path.lexists(each / ".git")), real)
        if root in (Path(root.anchor), Path.home()):
            raise RlintError(
                f"`--verify-with` runs the command in a copy of {root}: start rlint in the project's folder"
            )
        return cls(root, real.relative_to(root))

    def inside(self, path: Path) -> Path:
        """Return a file, relative to the root. Raises RlintError if it is elsewhere."""
        real = Path(os.path.realpath(path))
        try:
            return real.relative_to(self.root)
        except ValueError:
            raise RlintError(
                f"{path} does not lie in {self.root}, the folder that `--verify-with` copies; start rlint"
                " in the folder that has all files"
            ) from None

    def environment(self, copy: Path, fixed: Iterable[Path]) -> dict[str, str]:
        """Return the variables of the command. They are those of rlint, but Python searches packages in the
        copy first: otherwise an editable install would be imported from the tree.
        """
        found = dict(os.environ)
        given = [entry for entry in found.get("PYTHONPATH", "").split(os.pathsep) if entry]
        paths = [self._moved(entry, copy) for entry in given]
        roots = [self._import_root(path) for path in fixed]
        paths += [str(copy / root) for root in roots if root is not None]
        if paths:
            found["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
        found["PWD"] = str(copy / self.working)
        return found

    def _moved(self, entry: str, copy: Path) -> str:
        real = Path(os.path.realpath(entry))
        return str(copy / real.relative_to(self.root)) if real.is_relative_to(self.root) else entry

    def _import_root(self, path: Path) -> Path | None:
        """Return the folder that contains the package of a file; None for a script, whose folder is searched
        anyway, and if the folder has modules that would hide those of Python.
        """
        folder = Path(os.path.realpath(path)).parent
        if not (folder / "__init__.py").exists():
            return None
        while (folder / "__init__.py").exists() and folder != self.root:
            folder = folder.parent
        modules = {path.stem for path in folder.glob("*.py")}
        packages = {path.parent.name for path in folder.glob("*/__init__.py")}
        hidden = (modules | packages) & (sys.stdlib_module_names - _HARMLESS)
        return None if hidden else folder.relative_to(self.root)
