"""Messages about documents: opened, changed, saved and closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from rlint.lsp.documents import OpenDocument

if TYPE_CHECKING:
    from rlint.lsp.language_server import Server


def register(server: Server) -> None:
    """Register the handlers of these messages."""
    session, publisher = server.session, server.publisher

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        encoding = types.PositionEncodingKind(server.workspace.position_encoding or "utf-16")
        document = OpenDocument(item.uri, item.language_id, item.version, item.text, encoding.value)
        if document.is_python:
            session.documents.put(document)
            server.saved(document)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        before = session.documents.get(params.text_document.uri)
        if isinstance(before, OpenDocument):
            document = before.changed(params.text_document.version, params.content_changes)
            session.documents.put(document)
            publisher.typed(document)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        document = session.documents.get(params.text_document.uri)
        if document is not None:
            server.saved(document)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        document = session.documents.get(params.text_document.uri)
        if document is not None:
            server.closed(document)
