"""Locations of the links of a heat chain: lines of loops, and the functions that they reach."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rlint.findings import loop_of
from rlint.semantics.interprocedural.call_graph import GUESSED

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.project_index import ProjectIndex


_IN_CELL = re.compile(r"(?P<path>[^\n]+?):cell (?P<cell>\d+):(?P<line>\d+) (?P<header>.+)")


@dataclass(frozen=True, slots=True)
class ChainPlace:
    """A line of a file, or of the text of a notebook, counted from 1; and its reason in the chain."""

    path: Path
    line: int
    text: str


def places_of(
    chain: tuple[str, ...], index: ProjectIndex, paths: Mapping[str, Path]
) -> tuple[ChainPlace, ...]:
    """Return the locations of a chain's links, as far as they have one: a link is `file:line header` or the
    name of a function. `paths` are the files, by their names in links.
    """
    found: list[ChainPlace] = []
    for link in chain:
        loop = loop_of(link)
        if loop is not None and loop.path in paths:
            found.append(ChainPlace(paths[loop.path], loop.line, loop.header))
        elif (in_cell := _in_cell(link, index, paths)) is not None:
            found.append(in_cell)
        elif (function := _function(link.partition(GUESSED)[0], index, paths)) is not None:
            found.append(function)
    return tuple(found)


def _in_cell(link: str, index: ProjectIndex, paths: Mapping[str, Path]) -> ChainPlace | None:
    """Return the location of a loop in a link of the form `train.ipynb:cell 3:2 for ...`."""
    named = _IN_CELL.fullmatch(link)
    if named is None or named["path"] not in paths:
        return None
    modules = (module for module in index.modules.values() if module.path == named["path"])
    firsts = {number: first for module in modules for first, number in module.cells}
    first = firsts.get(int(named["cell"]))
    return (
        ChainPlace(paths[named["path"]], first + int(named["line"]) - 1, named["header"]) if first else None
    )


def _function(qualname: str, index: ProjectIndex, paths: Mapping[str, Path]) -> ChainPlace | None:
    """Return the location of the only function of this name."""
    named = [
        ChainPlace(paths[module.path], module.functions[qualname].line, qualname)
        for module in index.modules.values()
        if qualname in module.functions and module.path in paths and qualname
    ]
    return named[0] if len(named) == 1 else None
