"""Properties and operators of classes in other files that run in the code which a fix changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.findings import Fix
from rlint.semantics.model import SemanticModel
from rlint.syntax.syntax_index import LOOPS
from rlint.syntax.walk import children, descendants

_HOLDERS = (ast.stmt, ast.ExceptHandler, ast.match_case)
"""Parts of compound statements that contain other statements."""


def implicit_code_reason(fix: Fix, model: SemanticModel) -> str | None:
    """Return which method of another file may run implicitly between the changes of a fix, or in the
    expressions that it changes, and does more than return a value.
    """
    hidden, module = model.analysis.effects.hidden, model.symbols.module.module
    for node in _nodes(fix, model):
        for operand, methods in hidden.runs(node):
            if operand is not None and not hidden.may_be_own(operand):
                continue
            of = model.analysis.types.type_of(operand).of if operand is not None else ""
            for method in methods:
                path = model.index.implicit_method(method, module, of)
                if path:
                    return f"`{model.source.text(operand or node)}` may run `{path}`, which changes something"
    return None


def _nodes(fix: Fix, model: SemanticModel) -> Iterator[ast.AST]:
    """Yield the nodes from the first statement that a fix changes to the last, with all of the loops whose
    headers it changes, or in which only some of its changes are.
    """
    own = [edit for edit in fix.edits if not edit.shared] or list(fix.edits)
    start, end = min(edit.start for edit in own), max(edit.end for edit in own)
    span = model.source.span
    for kind in LOOPS:
        for loop in model.syntax.of_type(kind):
            first, last = span(loop)
            inside = [first <= edit.start and edit.end <= last for edit in own]
            if any(inside) and (
                not all(inside) or any(edit.start < _body_start(loop, model) for edit in own)
            ):
                start, end = min(start, first), max(end, last)
    for statement in descendants(model.syntax.module):
        if isinstance(statement, ast.stmt):
            first, last = span(statement)
            inner = [child for child in children(statement) if isinstance(child, _HOLDERS)]
            last = min([last, *(span(child)[0] for child in inner if isinstance(child, ast.stmt))])
            if first < end and start < last:
                for part in children(statement) if inner else [statement]:
                    if part not in inner:
                        yield from descendants(part)


def _body_start(loop: ast.AST, model: SemanticModel) -> int:
    return min(model.source.span(child)[0] for child in children(loop) if isinstance(child, ast.stmt))
