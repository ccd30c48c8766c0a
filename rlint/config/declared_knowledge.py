"""Declarations of a configuration about the code, in place of inference: how often functions run, where
programs start, whether there is an accelerator.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

from rlint.frozen import frozen


@frozen
class DeclaredKnowledge:
    """The declarations for the files of one configuration. `hot` and `cold` are globs of functions by their
    qualified names; each `_from` is their origin, for display.
    """

    hot: tuple[str, ...] = ()
    cold: tuple[str, ...] = ()
    accelerator: bool | None = None
    """Whether a device that the code leaves open is an accelerator; None if that is not declared."""
    entry_points: tuple[str, ...] | None = None
    """Files as absolute paths or globs, and functions as `module:function`; None if none are declared."""
    hot_from: str = ""
    cold_from: str = ""
    root: str = ""
    """The folder that module names are relative to, besides those that the program itself uses."""

    @property
    def says_nothing(self) -> bool:
        """Whether nothing at all is declared."""
        return not (self.hot or self.cold or self.entry_points is not None) and self.accelerator is None

    def modules(self, path: Path, module: str) -> tuple[str, ...]:
        """Return the dotted names of a file: in the program, and from the configuration's folder."""
        root = Path(self.root)
        if not self.root or root not in path.parents:
            return (module,)
        parts = [*path.relative_to(root).with_suffix("").parts]
        if parts[-1] == "__init__":
            parts.pop()
        return tuple(dict.fromkeys((module, ".".join(parts))))

    def entries_in(self, path: Path, module: str) -> tuple[str, ...]:
        """Return the functions of a file that are entry points, "" for the file itself run as a script."""
        found = []
        names = self.modules(path, module)
        for entry in self.entry_points or ():
            named, colon, function = entry.rpartition(":")
            if entry.endswith((".py", ".ipynb")):
                if fnmatchcase(path.as_posix(), entry):
                    found.append("")
            elif colon:
                found += [function] if any(means(named, name) for name in names) else []
            elif any(means(entry, name) or name == f"{entry}.__main__" for name in names):
                found.append("")
        return tuple(found)


NOTHING_DECLARED = DeclaredKnowledge()


def means(pattern: str, name: str) -> bool:
    """Whether a pattern matches a dotted name, completely or from one of its parts to the end."""
    return fnmatchcase(name, pattern) or fnmatchcase(name, f"*.{pattern}")
