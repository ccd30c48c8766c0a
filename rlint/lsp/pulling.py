"""Diagnostics for clients that pull them; to others they are pushed (see publisher.py), never both."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from lsprotocol import types

from rlint.lsp.workspace_reports import WorkspaceReports

if TYPE_CHECKING:
    from rlint.lsp.language_server import Server

_ID = "diagnostics"


class Pulling:
    """Answers requests for diagnostics, once the client is known to make them.

    If the client supports dynamic registration, it is registered when the settings are known, and again when
    they begin or cease to include files that are not open; else at the start.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._registered: bool | None = None

    def begin(self, capabilities: types.ClientCapabilities) -> None:
        """Declare pulling to a client that only supports static registration."""
        text = capabilities.text_document
        if text is not None and text.diagnostic is not None and not text.diagnostic.dynamic_registration:
            self._answer(workspace=self._server.session.folders.reports_workspace)

    async def register(self) -> None:
        """Register pulling with a client that supports dynamic registration."""
        server = self._server
        text = server.client_capabilities.text_document
        wanted = server.session.folders.reports_workspace
        if text is None or text.diagnostic is None or not text.diagnostic.dynamic_registration:
            return
        if self._registered == wanted:
            return
        first, self._registered = self._registered is None, wanted
        if first:
            self._answer(workspace=True)
        with contextlib.suppress(Exception):  # a client that refuses does not pull
            if not first:
                removed = types.Unregistration(_ID, types.TEXT_DOCUMENT_DIAGNOSTIC)
                await server.client_unregister_capability_async(types.UnregistrationParams([removed]))
            options = types.DiagnosticRegistrationOptions(
                inter_file_dependencies=True,
                workspace_diagnostics=wanted,
                document_selector=[types.TextDocumentFilterLanguage("python")],
                identifier="rlint",
            )
            registration = types.Registration(_ID, types.TEXT_DOCUMENT_DIAGNOSTIC, options)
            await server.client_register_capability_async(types.RegistrationParams([registration]))

    def _answer(self, *, workspace: bool) -> None:
        server = self._server
        reports = WorkspaceReports(server, server.session, server.publisher)
        options = types.DiagnosticOptions(
            inter_file_dependencies=True, workspace_diagnostics=workspace, identifier="rlint"
        )

        @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)
        async def diagnostic(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
            return await server.publisher.report(params.text_document.uri, params.previous_result_id)

        if workspace:

            @server.feature(types.WORKSPACE_DIAGNOSTIC)
            async def of_workspace(
                params: types.WorkspaceDiagnosticParams,
            ) -> types.WorkspaceDiagnosticReport:
                return await reports.report(params)
