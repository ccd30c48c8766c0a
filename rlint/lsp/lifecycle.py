"""Messages of the session: initialisation and shutdown, settings, folders and files."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from lsprotocol import types

from rlint.config.options import FILE_NAMES
from rlint.lsp.editor_settings import SECTION
from rlint.lsp.pulling import Pulling

if TYPE_CHECKING:
    from rlint.lsp.language_server import Server

_PROGRAMS = types.FileOperationRegistrationOptions(
    [
        types.FileOperationFilter(types.FileOperationPattern("**/*.py"), "file"),
        types.FileOperationFilter(
            types.FileOperationPattern("**/*", types.FileOperationPatternKind.Folder), "file"
        ),
    ]
)


def register(server: Server) -> None:
    """Register the handlers of these messages."""
    session, publisher, preferences = server.session, server.publisher, server.preferences
    pulling = Pulling(server)

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        publisher.begin(params.capabilities)
        preferences.begin(params.initialization_options)
        pulling.begin(params.capabilities)

    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        await preferences.ask()
        publisher.settle()
        await _register_at_client(server)
        await pulling.register()

    @server.feature(types.SHUTDOWN)
    def shutdown(_: None) -> None:
        server.was_shut_down = True
        session.stop()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        preferences.take(params.settings)
        await look_again(settings=True)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def did_change_folders(_: types.DidChangeWorkspaceFoldersParams) -> None:
        await look_again(settings=True, files=True)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def did_change_files(params: types.DidChangeWatchedFilesParams) -> None:
        changed = [change for change in params.changes if change.type is types.FileChangeType.Changed]
        names = {change.uri.rpartition("/")[2] for change in params.changes}
        settings = not names.isdisjoint(FILE_NAMES)
        await look_again(files=len(changed) < len(params.changes), pushed=settings)

    @server.feature(types.WORKSPACE_DID_CREATE_FILES, _PROGRAMS)
    async def did_create(_: types.CreateFilesParams) -> None:
        await look_again(files=True)

    @server.feature(types.WORKSPACE_DID_RENAME_FILES, _PROGRAMS)
    async def did_rename(_: types.RenameFilesParams) -> None:
        await look_again(files=True)

    @server.feature(types.WORKSPACE_DID_DELETE_FILES, _PROGRAMS)
    async def did_delete(_: types.DeleteFilesParams) -> None:
        await look_again(files=True)

    async def look_again(*, settings: bool = False, files: bool = False, pushed: bool = False) -> None:
        if settings or pushed:
            server.forget_shown_problems()
        if settings:
            await preferences.ask()
            await pulling.register()
        if files:
            session.forget_plans()
        session.forget_results()
        publisher.schedule_all()


async def _register_at_client(server: Server) -> None:
    """Register for change notifications, as far as the client supports them."""
    workspace = server.client_capabilities.workspace
    wanted = []
    watched = workspace.did_change_watched_files if workspace else None
    if watched and watched.dynamic_registration:
        names = ["**/*.py", "**/*.ipynb", *(f"**/{name}" for name in FILE_NAMES)]
        watchers = [types.FileSystemWatcher(name) for name in names]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        wanted.append(types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
    pushed = workspace.did_change_configuration if workspace else None
    if pushed and pushed.dynamic_registration:
        section = types.DidChangeConfigurationRegistrationOptions(SECTION)
        wanted.append(types.Registration("settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, section))
    if wanted:
        with contextlib.suppress(Exception):  # a client that refuses sends none
            await server.client_register_capability_async(types.RegistrationParams(wanted))
            server.watches = bool(watched and watched.dynamic_registration)
