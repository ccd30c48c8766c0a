"""Diagnostics of all files of the workspace, for clients that request them, including files that are not
open.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lsprotocol import types

if TYPE_CHECKING:
    from rlint.lsp.editor_session import EditorSession
    from rlint.lsp.language_server import Server
    from rlint.lsp.publisher import Publisher

_PAUSE = 1.0
"""Delay in seconds after a change before files that are not open are checked again."""


@dataclass(slots=True)
class _Known:
    """The last report of a file that is not open; `state` identifies its inputs."""

    state: object
    number: str
    diagnostics: list[types.Diagnostic]


class WorkspaceReports:
    """Answers a client that requests the workspace: at once with new results, or when something changes. Only
    folders are included whose settings request it (`workspaceDiagnostics`).
    """

    def __init__(self, server: Server, session: EditorSession, publisher: Publisher) -> None:
        self._server = server
        self._session = session
        self._publisher = publisher
        self._known: dict[str, _Known] = {}

    async def report(self, params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
        """Return what has changed since the reports that the client names. With a token for partial results,
        each file's report is sent as soon as it is available.
        """
        await self._publisher.ready()
        previous = {unquote(each.uri): each.value for each in params.previous_result_ids}
        changed = self._publisher.changed
        while True:
            changed.clear()
            items = await self._new_reports(previous, params.partial_result_token)
            if items is not None:
                return types.WorkspaceDiagnosticReport(items)
            await changed.wait()
            await asyncio.sleep(_PAUSE)

    async def _new_reports(
        self, previous: dict[str, str], token: types.ProgressToken | None
    ) -> list[types.WorkspaceDocumentDiagnosticReport] | None:
        """Return the reports that the client does not have yet, without those that were sent already; None if
        there were none.
        """
        items: list[types.WorkspaceDocumentDiagnosticReport] = []
        new_reports = False

        def add(uri: str, number: str | None, diagnostics: list[types.Diagnostic]) -> None:
            nonlocal new_reports
            item = types.WorkspaceFullDocumentDiagnosticReport(uri, diagnostics, result_id=number)
            new_reports = True
            if number is None:
                previous.pop(unquote(uri), None)
            else:
                previous[unquote(uri)] = number
            if token is None:
                items.append(item)
            else:
                part = types.WorkspaceDiagnosticReportPartialResult([item])
                self._server.protocol.notify(types.PROGRESS, types.ProgressParams(token, part))

        seen = set()
        stamps: dict[Path, object] = {}
        for path in await self._session.files_to_report():
            uri = path.as_uri()
            if self._session.documents.get(uri) is not None:
                seen.add(unquote(uri))  # the client requests it separately
                continue
            known = await self._checked(path, uri, stamps)
            if known is None:
                continue
            seen.add(unquote(uri))
            is_new = unquote(uri) in previous or known.diagnostics
            if is_new and previous.get(unquote(uri)) != known.number:
                add(uri, known.number, known.diagnostics)
        for uri in [uri for uri in previous if uri not in seen]:
            self._known.pop(uri, None)
            add(uri, None, [])  # deleted, or not reported any more
        return items if new_reports else None

    async def _checked(self, path: Path, uri: str, stamps: dict[Path, object]) -> _Known | None:
        """Return the findings of a file that is not open; the earlier ones, if their inputs have not
        changed.
        """
        key = unquote(uri)
        before = self._known.get(key)
        state = await self._session.state_of(path, stamps)
        if before is not None and state is not None and before.state == state:
            return before
        document = self._session.documents.at(path, self._encoding)
        if document is None or document.version is not None:
            return None
        found = await self._session.checked_closed(document)
        if found is None:
            return before
        diagnostics = self._publisher.diagnostics_of(document, found)[0][1] if found.parsed else []
        if before is None or before.diagnostics != diagnostics:
            number = self._publisher.new_result_id()
        else:
            number = before.number
        known = _Known(await self._session.state_of(path, stamps), number, diagnostics)
        self._known[key] = known
        return known

    @property
    def _encoding(self) -> str:
        return types.PositionEncodingKind(self._server.workspace.position_encoding or "utf-16").value
