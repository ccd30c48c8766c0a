"""Doubts about safe fixes, in files that look at, or change, more than others do. No rule thinks of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rlint.edit.deferred_edit import new_code
from rlint.findings import Applicability, Confidence, Edit, Finding, Fix
from rlint.semantics.effects.reflection import OF_THE_FUNCTION, lookups
from rlint.semantics.model import SemanticModel

_DISPATCHED = frozenset("__torch_function__ __torch_dispatch__ __array_function__ __array_ufunc__".split())
"""Methods that are told of each function of a library that is called with an object of their class."""
RESTORED = (
    "an attribute is also set by other code or by name (`setattr`, `__dict__`), or a container is "
    "passed to other code, so it may hold another object"
)


def doubted(findings: Sequence[Finding], model: SemanticModel) -> list[Finding]:
    """Return the findings of one rule, with fixes demoted to unsafe where other code may observe them."""
    if not any(finding.fix is not None and finding.fix.safety is Applicability.SAFE for finding in findings):
        return list(findings)
    names = model.analysis.names
    replaced = names.replaced_methods | names.replaced_functions
    looking = list(lookups(model.syntax, {**OF_THE_FUNCTION, "dir": 1}))
    dispatching = _dispatching(model)
    if not (replaced or looking or dispatching):
        return list(findings)
    return [_with_doubt(finding, dispatching, looking, model) for finding in findings]


def restored_doubt(finding: Finding) -> Finding:
    """Return the finding of a rule that looked at the kind of an attribute which may have become
    something else.
    """
    fix = finding.fix
    if fix is None or fix.safety is not Applicability.SAFE:
        return finding
    return replace(finding, fix=replace(fix, safety=Applicability.UNSAFE, reason=RESTORED))


def without_safe_fix(finding: Finding) -> Finding:
    """Return a finding that is only likely without a fix that is applied unasked."""
    fix = finding.fix
    if finding.confidence is Confidence.CERTAIN or fix is None or fix.safety is not Applicability.SAFE:
        return finding
    reason = f"it changes frequently executed code only if {finding.assumption}"
    return replace(finding, fix=replace(fix, safety=Applicability.UNSAFE, reason=reason))


def _with_doubt(
    finding: Finding, dispatching: str | None, looking: Sequence[ast.Call], model: SemanticModel
) -> Finding:
    fix = finding.fix
    if fix is None or fix.safety is not Applicability.SAFE:
        return finding
    reason = dispatching or _replaced_reason(fix, model) or _looking_reason(fix, looking, model)
    return (
        replace(finding, fix=replace(fix, safety=Applicability.UNSAFE, reason=reason)) if reason else finding
    )


def _dispatching(model: SemanticModel) -> str | None:
    """Return why a class that intercepts library calls could observe the calls that a fix replaces."""
    for function in model.syntax.of_type(ast.FunctionDef):
        if function.name in _DISPATCHED:
            return f"`{function.name}` in this file intercepts library calls"
    return None


def _replaced_reason(fix: Fix, model: SemanticModel) -> str | None:
    """Nobody knows what a method or function does that the file replaces, and so what a fix changes that
    takes its calls for the usual ones or calls it anew.
    """
    own = [edit for edit in fix.edits if not edit.shared] or list(fix.edits)
    start, end = min(edit.start for edit in own), max(edit.end for edit in own)
    before = _words([model.syntax.text[start:end]])  # with what is between, which may be wrapped
    after = _words(map(new_code, fix.edits))
    names = model.analysis.names
    noticed = (names.replaced_methods & (before | after)) | (names.replaced_functions & (after - before))
    for name in sorted(noticed):
        return f"`{name}` is replaced in this file and may behave differently"
    return None


def _looking_reason(fix: Fix, looking: Sequence[ast.Call], model: SemanticModel) -> str | None:
    """Return why a later call could observe what is computed, and under which name."""
    for call in looking:
        function = model.function(call)
        within = model.source.span(function) if function is not None else (0, len(model.syntax.text))
        for edit in fix.edits:
            earlier = not model.frequency.loops(call) and model.source.span(call)[1] <= edit.start
            inside = within[0] <= edit.start <= edit.end <= within[1]
            if inside and not earlier and (function is not None or _is_outside_functions(edit, model)):
                return f"`{model.source.text(call.func)}` may read local variables"
    return None


def _is_outside_functions(edit: Edit, model: SemanticModel) -> bool:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    spans = [model.source.span(function) for kind in kinds for function in model.syntax.of_type(kind)]
    return not any(start <= edit.start and edit.end <= end for start, end in spans)


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in re.findall(r"\w+", text)}
