"""Diagnostics, and when they go to the editor: pushed some time after it was typed, or when it asks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from rlint.lsp.diagnostics import Wording, moved
from rlint.lsp.documents import OpenDocument
from rlint.lsp.editor_session import EditorSession
from rlint.lsp.live import LiveCheck
from rlint.lsp.text import DocumentText

_SOON = 0.05
"""Seconds after which all documents are looked at again, so that several reasons make one look."""
_LATER = 0.5
"""Seconds after which other documents are looked at again that what was typed may concern."""


class Publisher:
    """Turns results into diagnostics, and sends those that are not out of date."""

    def __init__(self, server: LanguageServer, session: EditorSession) -> None:
        self._server = server
        self._session = session
        self._wording = Wording(types.ClientCapabilities())
        self._pulled = False
        self._ready = asyncio.Event()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Future[Any]] = set()
        self._shown: dict[str, tuple[DocumentText, list[types.Diagnostic]]] = {}
        self._reported: dict[str, tuple[str, list[types.Diagnostic]]] = {}
        self._number = 0
        self._saved: dict[str, OpenDocument] = {}

    def begin(self, capabilities: types.ClientCapabilities) -> None:
        """Learn what the client can show, and whether it asks for diagnostics."""
        self._wording = Wording(capabilities)
        text = capabilities.text_document
        self._pulled = text is not None and text.diagnostic is not None

    def settle(self) -> None:
        """The settings are known: from now on diagnostics may be sent."""
        self._ready.set()

    def run(self, work: Coroutine[Any, Any, Any]) -> None:
        """Do something in the background."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)  # the event loop alone would let it be collected
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._session.report(f"rlint failed: {error!r}; this is a bug in rlint, please report it")

    # -- pushed --------------------------------------------------------------------------------

    def schedule(self, document: OpenDocument, delay: float) -> None:
        """Send the diagnostics of a document after some seconds, unless it is scheduled anew before."""
        if self._pulled:
            return
        key = unquote(document.uri)
        self._cancel(key)
        loop = asyncio.get_running_loop()
        self._timers[key] = loop.call_later(delay, lambda: self.run(self._push(document.uri)))

    def schedule_all(self) -> None:
        """Look at all documents again."""
        if self._pulled:
            self._ask_to_ask()
        for document in self._session.documents:
            self.schedule(document, _SOON)

    def saved(self, document: OpenDocument) -> None:
        """A document was opened or saved: look at it at once."""
        self._saved[unquote(document.uri)] = document
        self.schedule(document, 0)

    def typed(self, document: OpenDocument) -> None:
        """A document was changed: look at it after a pause in typing, unless only saving counts."""
        options = self._session.applied(document).options
        if options.run == "onType":
            self.schedule(document, options.debounce / 1000)

    def clear(self, document: OpenDocument) -> None:
        """A document was closed: it has no diagnostics any more."""
        key = unquote(document.uri)
        self._cancel(key)
        self._shown.pop(key, None)
        self._reported.pop(key, None)
        self._saved.pop(key, None)
        if not self._pulled:
            self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, []))

    async def _push(self, uri: str) -> None:
        await self._ready.wait()
        document = self._session.documents.get(uri)
        if document is None:
            return
        found = await self._session.checked(document)
        if found is None or not self._session.is_current(document):
            return  # a newer version is on its way
        params = types.PublishDiagnosticsParams(uri, self._diagnostics(document, found), document.version)
        self._server.text_document_publish_diagnostics(params)
        self._spread(document, found)

    def _spread(self, document: OpenDocument, found: LiveCheck) -> None:
        """What was typed in one document may mean something to others."""
        others = self._session.depending_on(document) if found.tells_more else []
        if others:
            self._session.forget_results()
            if self._pulled:
                self._ask_to_ask()
            for other in others:
                self.schedule(other, _LATER)

    def _cancel(self, key: str) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    # -- asked for -----------------------------------------------------------------------------

    async def report(self, uri: str, previous: str | None) -> types.DocumentDiagnosticReport:
        """The diagnostics that a client asks for, of the newest version; or that `previous` still holds."""
        await self._ready.wait()
        while (document := self._session.documents.get(uri)) is not None:
            if self._waits_for_save(document):
                return types.RelatedFullDocumentDiagnosticReport(self._moved(document))
            found = await self._session.checked(document)
            if found is not None and self._session.is_current(document):
                return self._report_of(document, found, previous)
        return types.RelatedFullDocumentDiagnosticReport(items=[])

    def _report_of(
        self, document: OpenDocument, found: LiveCheck, previous: str | None
    ) -> types.DocumentDiagnosticReport:
        key = unquote(document.uri)
        diagnostics = self._diagnostics(document, found)
        known = self._reported.get(key)
        if known is None or known[1] != diagnostics:
            self._number += 1
            known = self._reported[key] = (str(self._number), diagnostics)
        self._spread(document, found)
        if previous == known[0]:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=previous)
        return types.RelatedFullDocumentDiagnosticReport(items=diagnostics, result_id=known[0])

    def _ask_to_ask(self) -> None:
        workspace = self._server.client_capabilities.workspace
        if workspace and workspace.diagnostics and workspace.diagnostics.refresh_support:
            self.run(self._refresh())

    async def _refresh(self) -> None:
        with contextlib.suppress(Exception):  # what the client answers does not matter
            await self._server.workspace_diagnostic_refresh_async(None)

    # -- diagnostics ---------------------------------------------------------------------------

    def _diagnostics(self, document: OpenDocument, found: LiveCheck) -> list[types.Diagnostic]:
        key = unquote(document.uri)
        if found.parsed:
            diagnostics = [
                self._wording.finding(document, finding, found.chains.get(finding.chain, ()))
                for finding in found.findings
            ]
            self._shown[key] = (document.text, diagnostics)
            return diagnostics
        diagnostics = self._moved(document)  # somebody is typing
        if self._session.applied(document).options.syntax_errors:
            diagnostics += [self._wording.problem(document, problem) for problem in found.problems]
        return diagnostics

    def _moved(self, document: OpenDocument) -> list[types.Diagnostic]:
        """What was shown before, as far as it stands where nothing has changed since."""
        text, shown = self._shown.get(unquote(document.uri), (document.text, []))
        return moved(shown, text, document.text)

    def _waits_for_save(self, document: OpenDocument) -> bool:
        options = self._session.applied(document).options
        return options.run == "onSave" and self._saved.get(unquote(document.uri)) is not document
