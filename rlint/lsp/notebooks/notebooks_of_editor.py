"""Messages about notebooks: opened, changed, saved and closed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lsprotocol import types

from rlint.lsp.documents import OpenDocument
from rlint.lsp.notebooks.open_notebook import INTERACTIVE, JUPYTER, OpenCell, OpenNotebook

if TYPE_CHECKING:
    from rlint.lsp.language_server import Server


SYNC = types.NotebookDocumentSyncOptions(
    [
        types.NotebookDocumentFilterWithNotebook(types.NotebookDocumentFilterNotebookType(kind))
        for kind in (JUPYTER, INTERACTIVE)
    ],
    save=True,
)
"""Cells of all languages are requested, so that cells are counted here as on the command line."""


def register(server: Server) -> None:
    """Register the handlers of these messages."""
    session, publisher = server.session, server.publisher

    def opened(items: Iterable[types.TextDocumentItem]) -> dict[str, OpenDocument]:
        encoding = types.PositionEncodingKind(server.workspace.position_encoding or "utf-16").value
        return {
            unquote(item.uri): OpenDocument(item.uri, item.language_id, item.version, item.text, encoding)
            for item in items
        }

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenNotebookDocumentParams) -> None:
        described, texts = params.notebook_document, opened(params.cell_text_documents)
        cells = _cells(described.cells, texts)
        notebook = OpenNotebook(described.uri, described.version, cells, described.metadata)
        session.documents.put(notebook)
        server.saved(notebook)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeNotebookDocumentParams) -> None:
        described = params.notebook_document
        before = session.documents.get(described.uri)
        if not isinstance(before, OpenNotebook):
            return
        change = params.change
        metadata = before.metadata if change.metadata is None else change.metadata
        cells = list(before.cells)
        structure = change.cells.structure if change.cells else None
        if structure is not None:
            known = {unquote(part.uri): part for part in before.parts}
            known.update(opened(structure.did_open or ()))
            array = structure.array
            new = _cells(array.cells or (), known)
            cells[array.start : array.start + array.delete_count] = new
        for described_cell in (change.cells.data if change.cells else None) or ():
            cells = [
                OpenCell(each.document, _is_code(described_cell))
                if unquote(each.document.uri) == unquote(described_cell.document)
                else each
                for each in cells
            ]
        notebook = OpenNotebook(before.uri, described.version, cells, metadata)
        for content in (change.cells.text_content if change.cells else None) or ():
            part = notebook.part(content.document.uri)
            if part is not None:
                changed = part.changed(content.document.version, content.changes)
                notebook = notebook.with_cell(described.version, changed)
        session.documents.put(notebook)
        stays = {unquote(part.uri) for part in notebook.parts}
        for part in before.parts:
            if unquote(part.uri) not in stays:
                publisher.clear_part(part)
        publisher.typed(notebook)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveNotebookDocumentParams) -> None:
        notebook = session.documents.get(params.notebook_document.uri)
        if notebook is not None:
            server.saved(notebook)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseNotebookDocumentParams) -> None:
        notebook = session.documents.get(params.notebook_document.uri)
        if notebook is not None:
            server.closed(notebook)


def _cells(described: Iterable[types.NotebookCell], texts: dict[str, OpenDocument]) -> list[OpenCell]:
    """Return the cells whose texts the client provides: others are unknown."""
    return [
        OpenCell(texts[unquote(cell.document)], _is_code(cell))
        for cell in described
        if unquote(cell.document) in texts
    ]


def _is_code(cell: types.NotebookCell) -> bool:
    return cell.kind is types.NotebookCellKind.Code
