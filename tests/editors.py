"""An editor for the tests: a real client that talks to a real `rlint server`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp.client import (
    DEFAULT_CLIENT_FEATURES,
    LanguageClient,
    client_capabilities,
    register_lsp_features,
)

import rlint
from patience import PATIENCE

ROOT = Path(rlint.__file__).resolve().parents[1]
COMMAND = (sys.executable, "-m", "rlint", "server")

Capabilities = types.ClientCapabilities


class Editor:
    """What a person sees and does. Documents are named by their paths below the folder."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.published: dict[str, list[types.PublishDiagnosticsParams]] = {}
        self.registered: list[types.Registration] = []
        self.unregistered: list[str] = []
        self.started: types.InitializeResult | None = None
        self._new_diagnostics = asyncio.Condition()
        self._versions: dict[str, int] = {}

    def uri(self, name: str) -> str:
        """The URI of a file, or a URI itself."""
        return name if ":" in name else (self.folder / name).as_uri()

    def item(self, name: str) -> types.TextDocumentIdentifier:
        """A document as requests name it."""
        return types.TextDocumentIdentifier(self.uri(name))

    def open(self, name: str, text: str | None = None, language: str = "python") -> None:
        """Open a file, or an unsaved buffer."""
        shown = (self.folder / name).read_bytes().decode() if text is None else text
        self._versions[name] = 1
        item = types.TextDocumentItem(self.uri(name), language, 1, shown)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def type(self, name: str, *changes: types.TextDocumentContentChangeEvent | str) -> int:
        """Change a document, in parts or as a whole; return its new version."""
        self._versions[name] += 1
        document = types.VersionedTextDocumentIdentifier(self._versions[name], self.uri(name))
        whole = types.TextDocumentContentChangeWholeDocument
        parts = [whole(each) if isinstance(each, str) else each for each in changes]
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, parts))
        return self._versions[name]

    def save(self, name: str) -> None:
        """Notify the server that a document was saved."""
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(self.item(name)))

    def close(self, name: str) -> None:
        """Close a document."""
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.item(name)))

    def cell_uri(self, name: str, key: str) -> str:
        """The URI of a cell, as VS Code forms it."""
        return f"vscode-notebook-cell:{self.uri(name).removeprefix('file:')}#{key}"

    def open_notebook(self, name: str, cells: Sequence[tuple[str, str, str]], metadata: Any = None) -> None:
        """Open a notebook of cells, each given by its key, language and text."""
        self._versions[name] = 1
        notebook = types.NotebookDocument(
            self.uri(name),
            "jupyter-notebook",
            1,
            [self._cell(name, key, language) for key, language, _ in cells],
            metadata,
        )
        params = types.DidOpenNotebookDocumentParams(notebook, [self._text(name, *cell) for cell in cells])
        self.client.notebook_document_did_open(params)

    def change_cells(self, name: str, changes: types.NotebookDocumentCellChanges) -> None:
        """Change the cells of a notebook."""
        self._versions[name] += 1
        document = types.VersionedNotebookDocumentIdentifier(self._versions[name], self.uri(name))
        event = types.NotebookDocumentChangeEvent(cells=changes)
        self.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(document, event))

    def type_in_cell(self, name: str, key: str, *changes: types.TextDocumentContentChangeEvent | str) -> None:
        """Change the text of a cell, in parts or as a whole."""
        uri = self.cell_uri(name, key)
        self._versions[uri] += 1
        whole = types.TextDocumentContentChangeWholeDocument
        parts = [whole(each) if isinstance(each, str) else each for each in changes]
        document = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        content = types.NotebookDocumentCellContentChanges(document, parts)
        self.change_cells(name, types.NotebookDocumentCellChanges(text_content=[content]))

    def replace_cells(
        self, name: str, start: int, deleted: Sequence[str], cells: Sequence[tuple[str, str, str]]
    ) -> None:
        """Replace the cells with the given keys, which begin at an index."""
        array = types.NotebookCellArrayChange(
            start, len(deleted), [self._cell(name, key, language) for key, language, _ in cells]
        )
        closed = [types.TextDocumentIdentifier(self.cell_uri(name, key)) for key in deleted]
        structure = types.NotebookDocumentCellChangeStructure(
            array, [self._text(name, *cell) for cell in cells], closed
        )
        self.change_cells(name, types.NotebookDocumentCellChanges(structure=structure))

    def close_notebook(self, name: str, keys: Sequence[str]) -> None:
        """Close a notebook with its cells."""
        closed = [types.TextDocumentIdentifier(self.cell_uri(name, key)) for key in keys]
        document = types.NotebookDocumentIdentifier(self.uri(name))
        self.client.notebook_document_did_close(types.DidCloseNotebookDocumentParams(document, closed))

    def _cell(self, name: str, key: str, language: str) -> types.NotebookCell:
        kinds = types.NotebookCellKind
        kind = kinds.Markup if language == "markdown" else kinds.Code
        return types.NotebookCell(kind, self.cell_uri(name, key))

    def _text(self, name: str, key: str, language: str, text: str) -> types.TextDocumentItem:
        uri = self.cell_uri(name, key)
        self._versions[uri] = 1
        return types.TextDocumentItem(uri, language, 1, text)

    async def note(self, params: types.PublishDiagnosticsParams) -> None:
        """Take diagnostics that the server sends."""
        async with self._new_diagnostics:
            self.published.setdefault(params.uri, []).append(params)
            self._new_diagnostics.notify_all()

    async def diagnostics(
        self, name: str, wanted: Callable[[list[str]], bool] | None = None
    ) -> list[types.Diagnostic]:
        """The diagnostics of a document's newest version, once they have the expected codes."""
        uri, version = self.uri(name), self._versions[name]  # the name of a cell is its URI

        def current() -> list[types.Diagnostic] | None:
            for params in reversed(self.published.get(uri, [])):
                if params.version == version and (wanted is None or wanted(codes(params.diagnostics))):
                    return list(params.diagnostics)
            return None

        async def wait() -> list[types.Diagnostic]:
            async with self._new_diagnostics:
                while (found := current()) is None:
                    await self._new_diagnostics.wait()
                return found

        return await asyncio.wait_for(wait(), PATIENCE)

    async def pull(self, name: str, previous: str | None = None) -> types.DocumentDiagnosticReport:
        """Ask for diagnostics."""
        params = types.DocumentDiagnosticParams(self.item(name), previous_result_id=previous)
        return await asyncio.wait_for(self.client.text_document_diagnostic_async(params), PATIENCE)

    async def actions(
        self, name: str, where: types.Range, only: Sequence[str] | None = None
    ) -> list[types.CodeAction]:
        """The code actions at a place."""
        shown = self.published.get(self.uri(name), [])
        context = types.CodeActionContext(list(shown[-1].diagnostics) if shown else [], only)
        params = types.CodeActionParams(self.item(name), where, context)
        found = await asyncio.wait_for(self.client.text_document_code_action_async(params), PATIENCE)
        return [action for action in found or () if isinstance(action, types.CodeAction)]

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """Resolve an action."""
        return await asyncio.wait_for(self.client.code_action_resolve_async(action), PATIENCE)

    async def hover(self, name: str, line: int, character: int) -> str | None:
        """The hover text at a place."""
        params = types.HoverParams(self.item(name), types.Position(line, character))
        found = await asyncio.wait_for(self.client.text_document_hover_async(params), PATIENCE)
        return found.contents.value if found and isinstance(found.contents, types.MarkupContent) else None

    async def described(self, part: str) -> str:
        """A message that contains this text, once it is shown to the user."""

        async def wait() -> str:
            while not (found := [m.message for m in self.client.messages if part in m.message]):
                await asyncio.sleep(0.02)
            return found[0]

        return await asyncio.wait_for(wait(), PATIENCE)

    def configure(self, settings: dict[str, Any]) -> None:
        """Change the settings, as the user does."""
        self.client.set_configuration(settings, section="rlint")
        self.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))


def with_notebooks(capabilities: Capabilities) -> None:
    """Let an editor show notebooks."""
    capabilities.notebook_document = types.NotebookDocumentClientCapabilities(
        types.NotebookDocumentSyncClientCapabilities()
    )


def codes(diagnostics: Sequence[types.Diagnostic]) -> list[str]:
    """The codes of diagnostics, in order; "error" for those without a code."""
    return [str(each.code) if each.code else "error" for each in diagnostics]


def applied(text: str, edit: types.WorkspaceEdit | None, encoding: str = "utf-16") -> str:
    """A text after the edits of one document, applied as the protocol specifies."""
    assert edit is not None
    edits: list[Any] = []
    for each in edit.document_changes or ():
        assert isinstance(each, types.TextDocumentEdit)
        edits += each.edits
    for several in (edit.changes or {}).values():
        edits += several
    places = [
        (offset(text, e.range.start, encoding), offset(text, e.range.end, encoding), e.new_text)
        for e in edits
    ]
    parts, done = [], 0
    for start, end, new in sorted(places, key=lambda place: place[:2]):
        assert start >= done, "edits overlap"
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])


def offset(text: str, place: types.Position, encoding: str = "utf-16") -> int:
    """The number of characters before a place, computed independently of the server."""
    start = 0
    for _ in range(place.line):
        start = min(end for end in (text.find("\n", start) + 1, text.find("\r", start) + 1) if end)
        if text[start - 1 : start + 1] == "\r\n":
            start += 1
    units = {
        "utf-8": lambda c: len(c.encode()),
        "utf-16": lambda c: 1 + (c > "\uffff"),
        "utf-32": lambda _: 1,
    }
    left = place.character
    while left > 0:
        left -= units[encoding](text[start])
        start += 1
    assert left == 0, "a place within a character"
    return start


@asynccontextmanager
async def editor(
    folder: Path,
    *,
    like: str = "visual-studio-code",
    options: object = None,
    settings: dict[str, Any] | None = None,
    folders: Sequence[Path] | None = None,
    change: Callable[[Capabilities], None] = lambda _: None,
    command: Sequence[str] = COMMAND,
) -> AsyncIterator[Editor]:
    """An editor with the capabilities of a real one, with optional changes; it is shut down at the end."""
    client = LanguageClient(converter_factory=default_converter, configuration={"": {"rlint": settings}})
    opened = Editor(client, folder)
    register_lsp_features(client, {**DEFAULT_CLIENT_FEATURES, **_features(opened)})
    kept = str(folder.parent / f"{folder.name}-cache")  # the server's user data
    initial_settings = {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", "XDG_CACHE_HOME": kept}
    await client.start_io(*command, env={**os.environ, **initial_settings})
    capabilities = client_capabilities(like)
    change(capabilities)
    opened.started = await asyncio.wait_for(
        client.initialize_session(
            types.InitializeParams(
                capabilities=capabilities,
                root_uri=folder.as_uri(),
                workspace_folders=[types.WorkspaceFolder(p.as_uri(), p.name) for p in folders or [folder]],
                initialization_options=options,
            )
        ),
        PATIENCE,
    )
    server = client._server
    assert server is not None
    try:
        yield opened
        await asyncio.wait_for(client.shutdown_session(), PATIENCE)
        assert server.returncode == 0
    finally:
        if server.returncode is None:
            server.kill()
        await client.stop()


def _features(opened: Editor) -> dict[str, Any]:
    async def publish(params: types.PublishDiagnosticsParams) -> None:
        await opened.note(params)

    def register(params: types.RegistrationParams) -> None:
        opened.registered += params.registrations

    def unregister(params: types.UnregistrationParams) -> None:
        opened.unregistered += [each.id for each in params.unregisterations]

    return {
        types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: publish,
        types.CLIENT_REGISTER_CAPABILITY: register,
        types.CLIENT_UNREGISTER_CAPABILITY: unregister,
    }


async def _played(scenario: Awaitable[None]) -> None:
    await asyncio.wait_for(scenario, 10 * PATIENCE)


def run(scenario: Awaitable[None]) -> None:
    """Run a scenario to its end; it fails if an expected message never comes."""
    asyncio.run(_played(scenario))
