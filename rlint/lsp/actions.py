"""Code actions for findings: fix one, fix all, or suppress one by a comment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from rlint.findings import Applicability, Finding
from rlint.fixing import apply_fixes
from rlint.lsp.diagnostics import SOURCE, place_of
from rlint.lsp.documents import Checked, OpenDocument
from rlint.lsp.text_edits import difference, workspace_edit
from rlint.suppression import suppressions
from rlint.suppression.directives import DirectiveKind

FIX_ALL = "source.fixAll.rlint"
FIX_NOTEBOOK = "notebook.source.fixAll.rlint"
"""The kind that VS Code requests once per saved notebook, and not once per cell."""
KINDS = (types.CodeActionKind.QuickFix, FIX_ALL, FIX_NOTEBOOK)


@dataclass(frozen=True, slots=True)
class RequestedActions:
    """The request for actions: a range, and possibly kinds or diagnostics."""

    document: Checked
    part: OpenDocument
    """The text document of the range: the document itself, or a cell of it."""
    where: types.Range
    context: types.CodeActionContext
    capabilities: types.ClientCapabilities
    other: Callable[[str], Checked | None]
    """Returns the current document for a name in a fix; None if it cannot be read."""

    def wants(self, kind: str) -> bool:
        """Whether actions of this kind are requested, by name or with all others."""
        return not any(self.context.only or ()) or self.names(kind)

    def names(self, kind: str) -> bool:
        """Whether this kind of actions, or a parent kind, is requested by name."""
        return any(kind == each or kind.startswith(f"{each}.") for each in self.context.only or () if each)

    @property
    def resolves(self) -> bool:
        """Whether the client resolves a code action's edit lazily."""
        text = self.capabilities.text_document
        action = text.code_action if text else None
        support = action.resolve_support if action else None
        return bool(action and action.data_support and support and "edit" in support.properties)


def found_here(queried: RequestedActions, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings for which quick fixes are requested."""
    if not queried.wants(types.CodeActionKind.QuickFix):
        return []
    places = [(finding, place_of(queried.document, finding)) for finding in findings]
    return [
        finding
        for finding, place in places
        if place is not None and place.part is queried.part and _meet(place.range, queried.where)
    ]


def quick_fixes(queried: RequestedActions, here: Sequence[Finding]) -> list[types.CodeAction]:
    """Return fixes of findings, safe ones first, then comments that suppress them."""
    offered = [action for finding in here for action in _fix(queried, finding)]
    offered.sort(key=lambda action: not action.is_preferred)
    return [*offered, *(action for finding in here for action in _comments(queried, finding))]


def kind_of_fix_all(queried: RequestedActions) -> str | None:
    """Return the kind under which the action that fixes everything is requested; None if it is not.

    It has no range, so it does not belong to a position: editors request it by name, from the menu of source
    actions or when a file is saved.
    """
    kinds = [FIX_ALL] if queried.document.notebook is None else [FIX_NOTEBOOK, FIX_ALL]
    return next((kind for kind in kinds if queried.names(kind)), None)


def fix_all(
    queried: RequestedActions, kind: str, edit: types.WorkspaceEdit | None, *, unsafe: bool
) -> types.CodeAction:
    """Return the action that fixes everything; without an edit, it is resolved later."""
    which = "all fixable findings, unsafe fixes included" if unsafe else "all findings with safe fixes"
    return types.CodeAction(
        title=f"rlint: Fix {which}",
        kind=kind,
        edit=edit,
        data=None if edit else {"uri": queried.document.uri},
    )


def _fix(queried: RequestedActions, finding: Finding) -> Iterator[types.CodeAction]:
    """Yield the fix of a finding, if all its files are unchanged, and the result parses."""
    fix = finding.fix
    if fix is None:
        return
    documents = {finding.path: queried.document, **{name: queried.other(name) for name in fix.files}}

    def text_of(name: str) -> str | None:
        document = documents.get(name)
        return document.source if document is not None and document.is_python else None

    done = apply_fixes.passes(text_of, [finding], unsafe=True)
    edits = [
        (document, done[name].edits) for name, document in documents.items() if document and name in done
    ]
    if len(edits) < len(documents) or any(
        apply_fixes.check_parses(made.text, name, [finding], was=text_of(name) or "") is not None
        for name, made in done.items()
    ):
        return
    if not all(document.can_take(done[name].text) for name, document in documents.items() if document):
        return
    where = f" in {len(edits)} files" if len(edits) > 1 else ""
    safe = fix.safety is Applicability.SAFE
    reason = f": {fix.reason}" if fix.reason else ""
    yield types.CodeAction(
        title=f"rlint ({finding.code}): {fix.title}{where}" + ("" if safe else f" (unsafe{reason})"),
        kind=types.CodeActionKind.QuickFix,
        diagnostics=_diagnostics(queried, finding),
        is_preferred=safe,
        edit=workspace_edit(edits, queried.capabilities),
    )


def _comments(queried: RequestedActions, finding: Finding) -> Iterator[types.CodeAction]:
    """Yield comments that suppress a finding, if a comment is possible there."""
    text = queried.document.source
    for kind, shown in (
        (DirectiveKind.NOQA, f"# noqa: {finding.code}"),
        (DirectiveKind.IGNORE, f"# rlint: ignore[{finding.code}]"),
    ):
        after = suppressions.add_comments(text, [finding], kind)
        if after == text or not suppressions.parse(after).hides(finding):
            continue
        yield types.CodeAction(
            title=f"rlint ({finding.code}): Hide it here with `{shown}`",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=_diagnostics(queried, finding),
            is_preferred=False,
            edit=workspace_edit([(queried.document, [difference(text, after)])], queried.capabilities),
        )


def _diagnostics(queried: RequestedActions, finding: Finding) -> list[types.Diagnostic] | None:
    """Return those of the editor's own diagnostics that belong to a finding."""
    place = place_of(queried.document, finding)
    return [
        diagnostic
        for diagnostic in queried.context.diagnostics
        if diagnostic.source == SOURCE
        and diagnostic.code == finding.code
        and place is not None
        and diagnostic.range == place.range
    ] or None


def _meet(one: types.Range, other: types.Range) -> bool:
    return one.start <= other.end and other.start <= one.end
