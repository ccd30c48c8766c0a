"""What an editor offers to do about findings: fix one, fix all, or hide one by a comment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from rlint import fixes, suppress
from rlint.directives import Kind
from rlint.findings import Finding, Safety
from rlint.lsp.diagnostics import SOURCE, range_of
from rlint.lsp.documents import Document
from rlint.lsp.edits import difference, text_edits, workspace_edit

FIX_ALL = "source.fixAll.rlint"
KINDS = (types.CodeActionKind.QuickFix, FIX_ALL)


@dataclass(frozen=True, slots=True)
class Asked:
    """What an editor asks actions for: a range, and perhaps certain kinds or diagnostics only."""

    document: Document
    where: types.Range
    context: types.CodeActionContext
    capabilities: types.ClientCapabilities

    def wants(self, kind: str) -> bool:
        """Are actions of this kind wanted?"""
        only = self.context.only
        return only is None or any(kind == each or kind.startswith(f"{each}.") for each in only)

    @property
    def resolves(self) -> bool:
        """Does the client ask for an action's edit when it is needed?"""
        text = self.capabilities.text_document
        action = text.code_action if text else None
        support = action.resolve_support if action else None
        return bool(action and action.data_support and support and "edit" in support.properties)


def quick_fixes(asked: Asked, findings: Sequence[Finding]) -> list[types.CodeAction]:
    """Fixes of the findings in a range, safe ones first, then comments that hide them."""
    if not asked.wants(types.CodeActionKind.QuickFix):
        return []
    here = [finding for finding in findings if _meet(range_of(asked.document, finding), asked.where)]
    offered = [action for finding in here for action in _fix(asked, finding)]
    offered.sort(key=lambda action: not action.is_preferred)
    return [*offered, *(action for finding in here for action in _comments(asked, finding))]


def fix_all(asked: Asked, edit: types.WorkspaceEdit | None, *, unsafe: bool) -> types.CodeAction:
    """The action that fixes all that can be fixed; without an edit it is asked for later."""
    which = "all fixable findings, unsafe fixes included" if unsafe else "all findings with safe fixes"
    return types.CodeAction(
        title=f"rlint: Fix {which}",
        kind=FIX_ALL,
        edit=edit,
        data=None if edit else {"uri": asked.document.uri},
    )


def _fix(asked: Asked, finding: Finding) -> Iterator[types.CodeAction]:
    """The fix of a finding, if the program can still be read with it."""
    fix = finding.fix
    if fix is None:
        return
    done = fixes.one_pass(asked.document.source, [finding], unsafe=True)
    if not done.findings or fixes.check_parses(done.text, finding.path, [finding]) is not None:
        return
    safe = fix.safety is Safety.SAFE
    reason = f": {fix.reason}" if fix.reason else ""
    yield types.CodeAction(
        title=f"rlint ({finding.code}): {fix.title}" + ("" if safe else f" (unsafe{reason})"),
        kind=types.CodeActionKind.QuickFix,
        diagnostics=_diagnostics(asked, finding),
        is_preferred=safe,
        edit=workspace_edit(asked.document, text_edits(asked.document, done.edits), asked.capabilities),
    )


def _comments(asked: Asked, finding: Finding) -> Iterator[types.CodeAction]:
    """Comments that hide a finding, where one can stand."""
    text = asked.document.source
    for kind, shown in (
        (Kind.NOQA, f"# noqa: {finding.code}"),
        (Kind.IGNORE, f"# rlint: ignore[{finding.code}]"),
    ):
        after = suppress.add_comments(text, [finding], kind)
        if after == text or not suppress.parse(after).hides(finding):
            continue
        yield types.CodeAction(
            title=f"rlint ({finding.code}): Hide it here with `{shown}`",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=_diagnostics(asked, finding),
            is_preferred=False,
            edit=workspace_edit(
                asked.document, text_edits(asked.document, [difference(text, after)]), asked.capabilities
            ),
        )


def _diagnostics(asked: Asked, finding: Finding) -> list[types.Diagnostic] | None:
    """Those of the editor's own diagnostics that are about a finding."""
    place = range_of(asked.document, finding)
    return [
        diagnostic
        for diagnostic in asked.context.diagnostics
        if diagnostic.source == SOURCE and diagnostic.code == finding.code and diagnostic.range == place
    ] or None


def _meet(one: types.Range, other: types.Range) -> bool:
    return one.start <= other.end and other.start <= one.end
