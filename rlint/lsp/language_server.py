"""The server itself, and its communication with an editor."""

from __future__ import annotations

import contextlib
import os
import sys

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from rlint import __version__
from rlint.lsp import documents_of_editor, explaining, lifecycle, questions
from rlint.lsp.documents import Checked
from rlint.lsp.editor_session import EditorSession
from rlint.lsp.notebooks import notebooks_of_editor
from rlint.lsp.notebooks.notebooks_of_editor import SYNC
from rlint.lsp.preferences import Preferences
from rlint.lsp.protocol import Protocol
from rlint.lsp.publisher import Publisher


class Server(LanguageServer):
    """A language server for one editor."""

    def __init__(self) -> None:
        super().__init__("rlint", __version__, protocol_cls=Protocol, notebook_document_sync=SYNC)
        self._shown: set[str] = set()
        self.session = EditorSession(self.show)
        self.publisher = Publisher(self, self.session)
        self.preferences = Preferences(self, self.session.folders, self.show)
        self.watches = False
        """Whether the editor reports files that change on disk."""
        self.was_shut_down = False
        for features in (documents_of_editor, notebooks_of_editor, questions, explaining, lifecycle):
            features.register(self)

    def saved(self, document: Checked) -> None:
        """Check a document that was opened or saved: other files may have changed with it."""
        if not self.watches:
            self.session.forget_plans()
        self.publisher.saved(document)

    def closed(self, document: Checked) -> None:
        """Remove a document that was closed, and check again those that depend on it."""
        others = self.session.depending_on(document)
        self.session.close(document)
        self.publisher.clear(document)
        for other in others:
            self.publisher.schedule_soon(other)

    def show(self, message: str) -> None:
        """Show a problem to the user, once until the settings change."""
        if message not in self._shown:
            self._shown.add(message)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"rlint: {message}"))

    def forget_shown_problems(self) -> None:
        """Forget which problems were shown, so that those that persist after a change are shown again."""
        self._shown.clear()


def serve(tcp: tuple[str, int] | None = None) -> int:
    """Serve one editor, over standard input and output or a TCP port, until it disconnects. Return the exit
    status: 1 if it disconnected without `exit`.
    """
    server = Server()
    with contextlib.suppress(SystemExit):  # how pygls ends
        if tcp is None:
            messages = os.fdopen(os.dup(sys.stdout.fileno()), "wb")  # pygls closes it at the end
            with contextlib.redirect_stdout(sys.stderr):  # no other output may come between the messages
                server.start_io(stdout=messages)
        else:
            server.start_tcp(*tcp)
    server.session.stop()
    return 0 if server.was_shut_down else 1
