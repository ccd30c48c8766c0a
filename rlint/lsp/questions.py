"""Requests of an editor: code actions, and hover texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from rlint.findings import Applicability
from rlint.lsp import actions, explaining
from rlint.lsp.hover import Hovered, hover
from rlint.lsp.text_edits import differences, workspace_edit

if TYPE_CHECKING:
    from rlint.lsp.documents import Checked
    from rlint.lsp.language_server import Server


def register(server: Server) -> None:
    """Register the handlers of these requests."""
    session = server.session
    options = types.CodeActionOptions(
        code_action_kinds=[*actions.KINDS, explaining.KIND], resolve_provider=True
    )

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        opened = session.documents.find(params.text_document.uri)
        if opened is None:
            return None
        document, part = opened
        found = await session.checked(document, newest=False)
        if found is None or not found.parsed:
            return None
        paths = found.paths

        def other(name: str) -> Checked | None:
            path = paths.get(name)
            return session.documents.at(path, part.text.encoding) if path is not None else None

        queried = actions.RequestedActions(
            document, part, params.range, params.context, server.client_capabilities, other
        )
        here = actions.found_here(queried, found.findings)
        offered = actions.quick_fixes(queried, await session.permitted(document, found, here))
        unsafe = session.applied(document).settings.unsafe_fixes
        own = [each.fix for each in found.findings if each.fix and not each.fix.needs_permission]
        fixable = [fix.safety is Applicability.SAFE or unsafe for fix in own]
        kind = actions.kind_of_fix_all(queried)
        if kind is not None and any(fixable):
            edit = None if queried.resolves else await _fix_all(document)
            if queried.resolves or edit:
                offered.append(actions.fix_all(queried, kind, edit, unsafe=unsafe))
        explain = explaining.action(queried)
        return [*offered, explain] if explain is not None else offered

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        data = action.data if isinstance(action.data, dict) else {}
        document = session.documents.get(str(data.get("uri", "")))
        if document is not None and action.kind in (actions.FIX_ALL, actions.FIX_NOTEBOOK):
            action.edit = await _fix_all(document)
        return action

    async def _fix_all(document: Checked) -> types.WorkspaceEdit | None:
        after = await session.fixed(document)
        if after is None or not session.is_current(document):
            return None
        return workspace_edit([(document, differences(document.source, after))], server.client_capabilities)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def show(params: types.HoverParams) -> types.Hover | None:
        opened = session.documents.find(params.text_document.uri)
        found = await session.checked(opened[0], newest=False) if opened else None
        if opened is None or found is None:
            return None
        at = Hovered(*opened, params.position)
        text = server.client_capabilities.text_document
        formats = (text.hover.content_format if text and text.hover else None) or [types.MarkupKind.Markdown]
        markdown = types.MarkupKind.Markdown in formats
        return hover(at, found.findings, server.publisher.links_of(at.document), markdown=markdown)
