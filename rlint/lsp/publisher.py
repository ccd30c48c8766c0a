"""Publishing of diagnostics: pushed some time after typing, or on request."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence
from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from rlint.findings import Problem
from rlint.lsp.diagnostics import Wording, moved
from rlint.lsp.documents import Checked, OpenDocument
from rlint.lsp.editor_session import EditorSession
from rlint.lsp.live import LiveCheck
from rlint.lsp.rule_links import RuleLinks
from rlint.lsp.text import DocumentText

_SOON = 0.05
"""Delay in seconds before all documents are checked again, so that several causes lead to one check."""
_LATER = 0.5
"""Delay in seconds before other documents that may be affected by typing are checked again."""


class Publisher:
    """Converts results to diagnostics, and sends those that are up to date."""

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
        self._saved: dict[str, Checked] = {}
        self._links = RuleLinks(session.later)
        self.changed = asyncio.Event()
        """Set whenever diagnostics of files that are not open may have changed."""

    def begin(self, capabilities: types.ClientCapabilities) -> None:
        """Read the client's abilities, and whether it pulls diagnostics."""
        self._wording = Wording(capabilities)
        text = capabilities.text_document
        self._pulled = text is not None and text.diagnostic is not None

    @property
    def is_pulled(self) -> bool:
        """Whether the client pulls diagnostics: then none are pushed to it."""
        return self._pulled

    async def ready(self) -> None:
        """Wait until the settings are known."""
        await self._ready.wait()

    def links_of(self, document: Checked) -> Callable[[str], str | None]:
        """Return a function for the URL of a rule's page, by the settings of a document."""
        applied = self._session.applied(document)
        base, kind = applied.settings.rule_url, applied.options.rule_pages
        return lambda code: self._links.url(code, base, kind)

    def settle(self) -> None:
        """Record that the settings are known, so that diagnostics may be sent."""
        self._ready.set()

    def run(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run a function in the background."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)  # the event loop itself only keeps a weak reference
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._session.report(f"rlint failed: {error!r}; this is a bug in rlint, please report it")

    # -- pushed --------------------------------------------------------------------------------

    def schedule(self, document: Checked, delay: float) -> None:
        """Send the diagnostics of a document after some seconds, unless it is rescheduled before."""
        if self._pulled:
            return
        key = unquote(document.uri)
        self._cancel(key)
        loop = asyncio.get_running_loop()
        self._timers[key] = loop.call_later(delay, lambda: self.run(self._push(document.uri)))

    def schedule_soon(self, document: Checked) -> None:
        """Send the diagnostics of a document that is affected by another change."""
        self.schedule(document, _SOON)

    def schedule_all(self) -> None:
        """Check all documents again."""
        if self._pulled:
            self._request_refresh()
        self.changed.set()
        for document in self._session.documents:
            self.schedule_soon(document)

    def saved(self, document: Checked) -> None:
        """Check a document that was opened or saved at once."""
        self._saved[unquote(document.uri)] = document
        self.changed.set()
        self.schedule(document, 0)

    def typed(self, document: Checked) -> None:
        """Check a changed document after a pause in typing, unless only saving counts."""
        options = self._session.applied(document).options
        if options.run == "onType":
            self.schedule(document, options.debounce / 1000)

    def clear(self, document: Checked) -> None:
        """Clear the diagnostics of a document that was closed."""
        key = unquote(document.uri)
        self._cancel(key)
        self._saved.pop(key, None)
        self.changed.set()
        for part in document.parts:
            self.clear_part(part)

    def clear_part(self, part: OpenDocument) -> None:
        """Clear the diagnostics of a text document that was closed, or of the cell of a notebook that was
        deleted.
        """
        key = unquote(part.uri)
        self._shown.pop(key, None)
        self._reported.pop(key, None)
        if not self._pulled:
            self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(part.uri, []))

    async def _push(self, uri: str) -> None:
        await self._ready.wait()
        document = self._session.documents.get(uri)
        if document is None:
            return
        found = await self._session.checked(document)
        if found is None or not self._session.is_current(document):
            return  # a newer version will be sent
        for part, diagnostics in self._diagnostics(document, found):
            params = types.PublishDiagnosticsParams(part.uri, diagnostics, part.version)
            self._server.text_document_publish_diagnostics(params)
        self._spread(document, found)

    def _spread(self, document: Checked, found: LiveCheck) -> None:
        """Check other documents again if the change of this one may affect them."""
        if found.has_more_information:
            self.changed.set()
        others = self._session.depending_on(document) if found.has_more_information else []
        if others:
            self._session.forget_results()
            if self._pulled:
                self._request_refresh()
            for other in others:
                self.schedule(other, _LATER)

    def _cancel(self, key: str) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    # -- asked for -----------------------------------------------------------------------------

    async def report(self, uri: str, previous: str | None) -> types.DocumentDiagnosticReport:
        """Return the diagnostics that a client requests, of the newest version; or that `previous` is still
        valid.
        """
        await self._ready.wait()
        while (opened := self._session.documents.find(uri)) is not None:
            document, part = opened
            if self._waits_for_save(document):
                return types.RelatedFullDocumentDiagnosticReport(self._moved(part))
            found = await self._session.checked(document)
            if found is not None and self._session.is_current(document):
                return self._report_of(document, part, found, previous)
        return types.RelatedFullDocumentDiagnosticReport(items=[])

    def _report_of(
        self, document: Checked, queried: OpenDocument, found: LiveCheck, previous: str | None
    ) -> types.DocumentDiagnosticReport:
        others = False
        for part, diagnostics in self._diagnostics(document, found):
            key = unquote(part.uri)
            known = self._reported.get(key)
            if known is None or known[1] != diagnostics:
                others = others or (known is not None and part is not queried)
                self._reported[key] = (self.new_result_id(), diagnostics)
        if others:  # a change in one cell may affect others, which were requested before
            self._request_refresh()
        self._spread(document, found)
        number, diagnostics = self._reported[unquote(queried.uri)]
        if previous == number:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=number)
        return types.RelatedFullDocumentDiagnosticReport(items=diagnostics, result_id=number)

    def new_result_id(self) -> str:
        """Return a unique id of a report."""
        self._number += 1
        return str(self._number)

    def _request_refresh(self) -> None:
        workspace = self._server.client_capabilities.workspace
        if workspace and workspace.diagnostics and workspace.diagnostics.refresh_support:
            self.run(self._refresh())

    async def _refresh(self) -> None:
        with contextlib.suppress(Exception):  # the client's answer is not needed
            await self._server.workspace_diagnostic_refresh_async(None)

    # -- diagnostics ---------------------------------------------------------------------------

    def _diagnostics(
        self, document: Checked, found: LiveCheck
    ) -> Sequence[tuple[OpenDocument, list[types.Diagnostic]]]:
        """Return the diagnostics of each of a document's parts."""
        by_part = self.diagnostics_of(document, found)
        problems: dict[int, list[Problem]] = {}
        for problem in found.problems if not found.parsed or document.notebook is not None else ():
            problems.setdefault(problem.cell.index - 1 if problem.cell else 0, []).append(problem)
        shows_problems = self._session.applied(document).options.syntax_errors
        for number, (part, diagnostics) in enumerate(by_part):
            if number in problems:  # the user is typing
                diagnostics.extend(self._moved(part))
                if shows_problems:
                    diagnostics.extend(self._wording.problem(part, each) for each in problems[number])
            else:
                self._shown[unquote(part.uri)] = (part.text, list(diagnostics))
        return by_part

    def diagnostics_of(
        self, document: Checked, found: LiveCheck
    ) -> list[tuple[OpenDocument, list[types.Diagnostic]]]:
        """Return the diagnostics of results, by the parts of the document."""
        link = self.links_of(document)
        by_part: dict[str, tuple[OpenDocument, list[types.Diagnostic]]]
        by_part = {part.uri: (part, []) for part in document.parts}
        for finding in found.findings:
            page = link(finding.code) if self._wording.links else None
            made = self._wording.finding(document, finding, found.chains.get(finding.chain, ()), page)
            if made is not None:
                by_part[made[0].uri][1].append(made[1])
        return list(by_part.values())

    def _moved(self, part: OpenDocument) -> list[types.Diagnostic]:
        """Return the earlier diagnostics, as far as their lines have not changed since."""
        text, shown = self._shown.get(unquote(part.uri), (part.text, []))
        return moved(shown, text, part.text)

    def _waits_for_save(self, document: Checked) -> bool:
        options = self._session.applied(document).options
        return options.run == "onSave" and self._saved.get(unquote(document.uri)) is not document
