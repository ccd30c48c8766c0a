"""Expressions whose source a program shows: `f"{score(x)=}"` prints it, a template string keeps it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.edit.deferred_edit import new_code
from rlint.findings import Edit, Fix
from rlint.parsing.later_nodes import INTERPOLATION
from rlint.regex import regex
from rlint.semantics.model import SemanticModel

_SHOWS_ITSELF = regex(r"[\s)]*=\s*[!:}]")
"""The text after an expression in an f-string that prints its source as well: `{loss=}`, `{(a + b)=:.2f}`."""


def shown_source_reason(fix: Fix, model: SemanticModel) -> str | None:
    """Return an expression that a fix changes although the program shows its source."""
    for start, end in _shown(model):
        text = model.syntax.text[start:end]
        if any(text not in new_code(edit) for edit in _within(fix, start, end)):
            return f"the string shows the text of `{text}`"
    return None


def _shown(model: SemanticModel) -> Iterator[tuple[int, int]]:
    for field in model.syntax.of_type(ast.FormattedValue):
        start, end = model.source.span(field.value)
        if _SHOWS_ITSELF.match(model.syntax.text, end):
            yield start, end
    for field in model.syntax.of_type(INTERPOLATION):
        yield model.source.span(field.value)


def _within(fix: Fix, start: int, end: int) -> list[Edit]:
    return [edit for edit in fix.edits if edit.start < end and start < edit.end]
