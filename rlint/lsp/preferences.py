"""The editor's settings: sent at the start, when they change, or on request."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from rlint.lsp.documents import path_of
from rlint.lsp.editor_settings import SECTION, EditorSettings, read_options
from rlint.lsp.folders import Folders

_PATIENCE = 5.0
"""Maximum seconds to wait for an editor's answer to a request for its settings."""


class Preferences:
    """Stores the editor's settings, and provides the options of each folder. `report` is called with
    errors.
    """

    def __init__(self, server: LanguageServer, folders: Folders, report: Callable[[str], None]) -> None:
        self._server = server
        self._folders = folders
        self._report = report
        self._at_start: object = None
        self._sent: object = None

    def begin(self, options: object) -> None:
        """Set the options of the initialisation; they apply until the editor sends others."""
        self._at_start = options
        self._apply({})

    def take(self, settings: object) -> None:
        """Set the settings of a change of configuration."""
        self._sent = settings

    async def ask(self) -> None:
        """Request the settings of each folder, if the editor supports that, and apply all."""
        workspace = self._server.client_capabilities.workspace
        roots = self._roots()
        answers: Sequence[object] = ()
        if workspace and workspace.configuration:
            uris = [None, *roots.values()]
            items = [types.ConfigurationItem(scope_uri=uri, section=SECTION) for uri in uris]
            with contextlib.suppress(Exception):  # an editor that does not answer has no settings
                answers = await asyncio.wait_for(
                    self._server.workspace_configuration_async(types.ConfigurationParams(items)), _PATIENCE
                )
        scopes: list[Path | None] = [None, *roots]
        self._apply(dict(zip(scopes, answers, strict=False)))

    def _apply(self, answers: dict[Path | None, object]) -> None:
        mistakes: dict[str, None] = {}

        def options(root: Path | None) -> EditorSettings:
            said = answers.get(root) if root in answers else answers.get(None)
            found, wrong = read_options(self._at_start, self._sent, said)
            mistakes.update(dict.fromkeys(wrong))
            return found

        self._folders.set(self._roots(), options)
        for mistake in mistakes:
            self._report(mistake)

    def _roots(self) -> dict[Path, str]:
        """Return the folders of the workspace, with their URIs."""
        workspace = self._server.workspace
        uris = [folder.uri for folder in workspace.folders.values()]
        if not uris and workspace.root_uri:
            uris = [workspace.root_uri]
        found = {path_of(uri): uri for uri in uris}
        return {path: uri for path, uri in found.items() if path is not None}
