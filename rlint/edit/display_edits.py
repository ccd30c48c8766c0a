"""Displays rewritten by LibCST."""

from __future__ import annotations

from collections.abc import Collection

from rlint.edit.deferred_edit import CannotWriteError
from rlint.edit.parsed_code import by_libcst, code, expression, newline_of
from rlint.parsing.imported_libcst import cst


@by_libcst
def without_items(text: str, places: Collection[int]) -> str:
    """Return the text of a dict display without the items at some positions, but not all items."""
    node = expression(text)
    if not isinstance(node, cst.Dict):
        raise CannotWriteError("LibCST reads the code in another way")
    kept = [item for place, item in enumerate(node.elements) if place not in places]
    if len(node.elements) - 1 in places:
        kept[-1] = kept[-1].with_changes(comma=node.elements[-1].comma)
    return code(node.with_changes(elements=kept), newline_of(text))
