"""Uncommitted changes of a working tree, which make it hard to review a fix separately."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from rlint.errors import RlintError
from rlint.frozen import frozen
from rlint.source.git import Repository, top_of

_SHOWN = 5


@frozen
class Uncommitted:
    """Uncommitted changes: the working trees, and the files that git lists in them."""

    trees: tuple[Path, ...]
    paths: tuple[str, ...]
    problem: str | None = None
    """Why git cannot determine them, if so."""

    def __str__(self) -> str:
        """Return a sentence and a list for the user."""
        if self.problem is not None:
            return f"uncommitted changes cannot be determined: {self.problem}"
        where = ", ".join(str(tree) for tree in self.trees)
        listed = [f"  {path}" for path in self.paths[:_SHOWN]]
        if len(self.paths) > _SHOWN:
            listed.append(f"  and {len(self.paths) - _SHOWN} more")
        return "\n".join([f"{where} has uncommitted changes:", *listed])


def uncommitted(files: Iterable[Path]) -> Uncommitted | None:
    """Return the uncommitted files in the working trees of the files: changed, staged and untracked ones that
    git does not ignore. None if there are none, or no repository.
    """
    tops = {top for file in files if (top := top_of(Path(os.path.realpath(file)).parent)) is not None}
    trees: list[Path] = []
    paths: list[str] = []
    for top in sorted(tops):
        try:
            found = Repository(top).changed_paths()
        except RlintError as error:
            return Uncommitted((top,), (), str(error))
        if found:
            trees.append(top)
            paths += found
    return Uncommitted(tuple(trees), tuple(paths)) if paths else None
