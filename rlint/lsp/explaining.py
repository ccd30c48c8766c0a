"""Explain the line at the cursor: what each rule knows of it, and why it reports nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from rlint.lsp.actions import RequestedActions
    from rlint.lsp.language_server import Server

COMMAND = "rlint.explain"
KIND = "rlint.explain"
"""The kind of the code action: not a standard kind, so that it is only offered on request."""
_MISTAKE = "`rlint.explain` takes the URI of an open document and one of its lines, counted from 0"


def action(queried: RequestedActions) -> types.CodeAction | None:
    """Return the action that explains a line, if the menu of actions is opened or the kind is requested, but
    not for the light bulb that follows the cursor.
    """
    context = queried.context
    is_invoked = context.only is None and context.trigger_kind is types.CodeActionTriggerKind.Invoked
    if not is_invoked and not (context.only and queried.wants(KIND)):
        return None
    title = "rlint: Explain this line"
    line = queried.where.start.line
    command = types.Command(title, COMMAND, arguments=[queried.part.uri, line])
    return types.CodeAction(title, KIND, command=command)


def register(server: Server) -> None:
    """Register the command: it shows the explanation, unless the client does that itself, and returns it."""
    session = server.session

    @server.command(COMMAND)
    async def explain(uri: str, line: int) -> str | None:
        found = session.documents.find(uri)
        number = found[0].line_of(found[1], line) if found is not None else None
        if found is None or number is None:
            server.window_show_message(types.ShowMessageParams(types.MessageType.Error, _MISTAKE))
            return None
        text = await session.explained(found[0], number)
        shows = session.applied(found[0]).options.explanations == "shown"
        if text is not None and shows:
            server.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))
        return text
