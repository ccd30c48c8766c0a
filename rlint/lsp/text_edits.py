"""Conversion of rlint's edits, which count characters, to those of the protocol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from lsprotocol import types

from rlint.findings import Edit
from rlint.lsp.documents import Checked
from rlint.source.line_diff import changes


def differences(before: str, after: str) -> list[Edit]:
    """Return the edits, line by line, that turn `before` into `after`."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, old))]
    return [
        Edit(
            starts[change.old_start],
            starts[change.old_end],
            "".join(new[change.new_start : change.new_end]),
        )
        for change in changes(old, new)
    ]


def difference(before: str, after: str) -> Edit:
    """Return the one edit that turns `before` into `after`, without their common prefix and suffix."""
    start = 0
    shorter = min(len(before), len(after))
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return Edit(start, len(before) - end, after[start : len(after) - end])


def workspace_edit(
    edits: Sequence[tuple[Checked, Iterable[Edit]]], capabilities: types.ClientCapabilities
) -> types.WorkspaceEdit:
    """Return an edit of documents; if the client supports versions, of exactly the known ones."""
    made = [each for document, own in edits for each in document.text_edits(own)]
    workspace = capabilities.workspace.workspace_edit if capabilities.workspace else None
    if workspace is None or not workspace.document_changes:
        return types.WorkspaceEdit(changes={document.uri: own for document, own in made})
    versioned = types.OptionalVersionedTextDocumentIdentifier
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(versioned(uri=document.uri, version=document.version), [*own])
            for document, own in made
        ]
    )
