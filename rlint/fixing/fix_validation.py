"""Validate each fix: its result must parse, join no tokens and lose no comment, and its new names must have
the intended meaning. A fix that fails is left out alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from rlint.edit.changed_statements import pieces
from rlint.edit.deferred_edit import CannotWriteError, WrittenEdit, is_deferred, written
from rlint.edit.foreseen import may_be_refused
from rlint.edit.kept_comments import comments_above, lost_comments
from rlint.edit.new_names import misread_name
from rlint.edit.token_borders import separated

if TYPE_CHECKING:
    from rlint.findings import Edit, Finding
    from rlint.semantics.model import SemanticModel
    from rlint.syntax.syntax_index import SyntaxIndex

UNPARSABLE = "the changed code would not parse"


def held(findings: Sequence[Finding], model: SemanticModel, *, with_edits: bool = True) -> list[Finding]:
    """Return the findings of one rule, with fixes corrected where a blank or parentheses suffice, and without
    those that cannot be corrected; these say why. If edits are not requested, fixes that LibCST has to write
    stay unwritten.
    """
    known: dict[tuple[Edit, ...], tuple[Edit, ...] | str] = {}
    found = []
    for finding in findings:
        fix = finding.fix
        if fix is None or not fix.edits:
            found.append(finding)
            continue
        if not with_edits and is_deferred(fix.edits) and not may_be_refused(fix.edits, model.syntax):
            found.append(replace(finding, fix=replace(fix, edits=())))
            continue
        if fix.edits not in known:
            known[fix.edits] = _held_edits(fix.edits, model.syntax)
        edits = known[fix.edits]
        if isinstance(edits, str):
            found.append(replace(finding, fix=None, no_fix=edits))
        else:
            found.append(replace(finding, fix=replace(fix, edits=edits)) if edits != fix.edits else finding)
    return found


def _held_edits(edits: Sequence[Edit], syntax: SyntaxIndex) -> tuple[Edit, ...] | str:
    """Return the edits of a fix, written and corrected; or why it is left out."""
    try:
        given = written(edits)
    except CannotWriteError as error:
        return str(error)
    ordered = sorted(given, key=_place)
    if any(first.end > second.start for first, second in pairwise(ordered)):
        return "its edits overlap"
    cells = syntax.marimo_cells
    if cells and not all(any(a <= edit.start <= edit.end <= b for a, b in cells) for edit in ordered):
        return "marimo discards code outside of cells"
    changed = pieces(separated(given, syntax.text, syntax.mask), syntax)
    if changed is None:
        return UNPARSABLE
    lost = lost_comments(changed, syntax.text)
    if lost:
        above = comments_above(lost, given, syntax)
        more = (
            pieces(separated([*(above or ()), *given], syntax.text, syntax.mask), syntax) if above else None
        )
        if more is None or lost_comments(more, syntax.text):
            return f"the comment `{next(iter(lost))}` would be lost"
        changed = more
    name = misread_name(changed, syntax)
    if name is not None:
        return f"`{name}` has another meaning here"
    mended = tuple(_plain(edit) for piece in changed for edit in piece.edits)
    given = tuple(map(_plain, given))
    return given if sorted(given, key=_place) == list(mended) else mended


def _place(edit: Edit) -> tuple[int, int]:
    return edit.start, edit.end


def _plain(edit: Edit) -> Edit:
    return edit.plain() if isinstance(edit, WrittenEdit) else edit
