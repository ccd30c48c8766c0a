"""Find the cell of a notebook that IPython is about to run, and insert hooks."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

from rlint.prove.plan.cells import cells_of, has_stand_in, marker_of
from rlint.prove.record.instrumented_code import instrument


def instrumented_cell(
    tree: ast.Module, text: str, regions: Sequence[dict[str, Any]]
) -> tuple[ast.Module, list[dict[str, Any]]]:
    """Return a cell with hooks, and its regions; none if it is not a cell of the text."""
    whole = ast.parse(text)
    for start, stop in cells_of(whole):
        if not _same(tree.body, whole.body[start:stop], marker_of(whole)):
            continue
        moved = []
        for region in regions:
            steps = region["steps"]
            place = steps[0][1] if steps else region["start"]
            if not start <= place < stop:
                continue
            if steps:
                moved.append({**region, "steps": [[steps[0][0], place - start], *steps[1:]]})
            else:
                at = {name: region[name] - start for name in ("start", "stop")}
                moved.append({**region, **at})
        if moved:
            tree = copy.deepcopy(tree)
            instrument(tree, moved)
            ours = {region["id"] for region in moved}
            return tree, [region for region in regions if region["id"] in ours]
        break
    return tree, []


def _same(run: Sequence[ast.stmt], written: Sequence[ast.stmt], marker: str) -> bool:
    """Whether statements are those of a cell in which IPython has translated the lines that are not
    Python.
    """
    return len(run) == len(written) > 0 and all(
        has_stand_in(other, marker) or ast.dump(one) == ast.dump(other)
        for one, other in zip(run, written, strict=True)
    )
