"""Whether an edit that LibCST has not written yet may be impossible, determined without LibCST."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rlint.edit.deferred_edit import DeferredEdit
from rlint.edit.kept_comments import has_comment_of_its_line
from rlint.edit.new_names import may_be_misread
from rlint.edit.source_text import SourceText
from rlint.findings import Edit
from rlint.regex import regex
from rlint.syntax.syntax_index import SyntaxIndex

_HARD_TO_MOVE = regex(r"\"\"\"|'''|\\[\r\n]|\f")
"""Code whose lines have another meaning at another indentation, or that LibCST may write differently."""


def may_be_refused(edits: Sequence[Edit], syntax: SyntaxIndex) -> bool:
    """Whether only LibCST can determine if a fix is valid: its code is hard to move, a comment may be deleted
    that cannot be placed above, its edits may conflict, or its names may have another meaning. Edits that
    LibCST writes satisfy all other conditions on fixes.
    """
    if syntax.marimo_cells:
        return True
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    if any(first.end > second.start for first, second in pairwise(ordered)):
        return True
    for edit in edits:
        lines = _lines(edit, syntax)
        new = edit.code if isinstance(edit, DeferredEdit) else edit.text
        if _HARD_TO_MOVE.search(lines) or _HARD_TO_MOVE.search(new):
            return True
        deletes = isinstance(edit, DeferredEdit) and edit.deletes
        if (
            has_comment_of_its_line(lines)
            or (deletes and "#" in lines)
            or may_be_misread(new, edit.start, lines, syntax)
        ):
            return True
    return _loses_comment(edits, syntax)


def _loses_comment(edits: Sequence[Edit], syntax: SyntaxIndex) -> bool:
    """Whether a comment in a deleted statement is neither owned by the fix nor part of its new code."""
    removed = [
        edit
        for edit in edits
        if not isinstance(edit, DeferredEdit)
        and edit.text.strip() in ("", "pass")
        and "#" in syntax.text[edit.start : edit.end]
    ]
    if not removed:
        return False
    source = SourceText(syntax)
    kept = "\n".join(edit.code if isinstance(edit, DeferredEdit) else edit.text for edit in edits)
    return any(
        comment not in edit.owns and comment not in kept
        for edit in removed
        for comment in source.comments(edit.start, edit.end)
    )


def _lines(edit: Edit, syntax: SyntaxIndex) -> str:
    positions = syntax.positions
    first, last = positions.position(edit.start).line, positions.position(edit.end).line
    return syntax.text[positions.line_start(first) : positions.line_end(last)]
