"""Demote safe fixes in files that use reflection or monkey-patching, whatever the rule. This is independent
of the rule.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rlint import models
from rlint.edit.deferred_edit import new_words
from rlint.findings import Applicability, Confidence, Edit, Finding, Fix
from rlint.fixing.added_names import added_name_reason
from rlint.fixing.broken_promises import broken_promise_reason
from rlint.fixing.rebound_builtins import rebound_builtins
from rlint.fixing.shown_source import shown_source_reason
from rlint.fixing.unread_syntax import unread_syntax_reason
from rlint.semantics.effects.namespace_writes import ANY_NAME
from rlint.semantics.effects.reflection import OF_THE_FUNCTION, lookups
from rlint.semantics.interprocedural.qualified_names import is_class
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.model import SemanticModel
from rlint.semantics.nn.autograd import GRAD_MODES

_LOCALS = ("f_locals", "co_varnames", "co_nlocals")
"""Attributes of frames and code objects that name local variables."""
RESTORED = (
    "an attribute is also set by other code or by name (`setattr`, `__dict__`), a method also runs with "
    "other objects, or a container is passed to other code, so it may hold another object"
)


def doubted(findings: Sequence[Finding], model: SemanticModel) -> list[Finding]:
    """Return the findings of one rule, with fixes demoted to unsafe where other code may observe them."""
    if not any(finding.fix is not None and finding.fix.safety is Applicability.SAFE for finding in findings):
        return list(findings)
    doubts = _Doubts(model)
    return [doubts.with_doubt(finding) for finding in findings]


def restored_doubt(finding: Finding) -> Finding:
    """Return the finding of a rule that used the type of an attribute whose type is in doubt."""
    fix = finding.fix
    if fix is None or fix.safety is not Applicability.SAFE:
        return finding
    return replace(finding, fix=replace(fix, safety=Applicability.UNSAFE, reason=RESTORED))


def without_safe_fix(finding: Finding) -> Finding:
    """Return a likely finding without its safe fix."""
    fix = finding.fix
    if finding.confidence is Confidence.CERTAIN or fix is None or fix.safety is not Applicability.SAFE:
        return finding
    reason = f"it changes frequently executed code only if {finding.assumption}"
    return replace(finding, fix=replace(fix, safety=Applicability.UNSAFE, reason=reason))


class _Doubts:
    """Names that a file and its project replace, set dynamically, or look up, as far as they concern a
    fix.
    """

    def __init__(self, model: SemanticModel) -> None:
        names = model.analysis.names
        self._model = model
        self._dispatching = _dispatching(model)
        self._looking = list(lookups(model.syntax, {**OF_THE_FUNCTION, "dir": 1}))
        other_edits = [path.rpartition(".") for path in model.index.overwritten_names.in_libraries]
        self._methods = names.replaced_methods | {name for owner, _, name in other_edits if is_class(owner)}
        self._functions = {name for owner, _, name in other_edits if not is_class(owner)}
        self._own_functions = names.replaced_functions
        self._variables = _set_variables(model)
        self._rebound = list(rebound_builtins(model))

    def with_doubt(self, finding: Finding) -> Finding:
        """Return the finding with an unsafe fix if other code may observe the fix."""
        fix = finding.fix
        if fix is None or fix.safety is not Applicability.SAFE:
            return finding
        reason = (
            self._dispatching
            or self._frame_reason()
            or self._replaced_reason(fix)
            or self._variable_reason(fix)
            or self._builtin_reason(fix)
            or self._mode_reason(fix)
            or shown_source_reason(fix, self._model)
            or added_name_reason(fix, self._model)
            or unread_syntax_reason(fix, self._model)
            or broken_promise_reason(fix, self._model)
            or _looking_reason(fix, self._looking, self._model)
        )
        if not reason:
            return finding
        return replace(finding, fix=replace(fix, safety=Applicability.UNSAFE, reason=reason))

    def _replaced_reason(self, fix: Fix) -> str | None:
        """Return the replaced method or function that the fix depends on: its effects are unknown, so a fix
        that relies on its usual behaviour, calls it, or runs it in another autograd mode is not safe.
        """
        if not (self._methods or self._functions or self._own_functions):
            return None
        own = [edit for edit in fix.edits if not edit.shared] or list(fix.edits)
        start, end = min(edit.start for edit in own), max(edit.end for edit in own)
        before = _words([self._model.syntax.text[start:end]])  # including calls in between
        after = new_words(fix.edits)
        replaced = self._methods | self._functions
        noticed = (replaced & (before | after)) | (self._own_functions & (after - before))
        if GRAD_MODES & after:
            noticed = replaced | self._own_functions
        elif replaced:
            read = self._model.usage.read_by_called(self._called_within(start, end))
            noticed |= {name for name in replaced & read if not name.startswith("__")}
        for name in sorted(noticed | (replaced & {ANY_NAME})):
            called = f"`{name}`" if name != ANY_NAME else "a function of a library"
            return f"{called} is replaced in this program and may behave differently"
        return None

    def _called_within(self, start: int, end: int) -> Iterator[FunctionSummary]:
        """Yield the functions of the project that are called between two offsets."""
        for call in self._model.syntax.of_type(ast.Call):
            first, last = self._model.source.span(call)
            if start <= first and last <= end:
                yield from self._model.types.call_targets(call)

    def _frame_reason(self) -> str | None:
        """Return which code observes the local variables of functions: of those that run or failed, or of all
        by their code objects, as code does that filters keyword arguments.
        """
        read = next((name for name in _LOCALS if self._model.program.mentions(name)), None)
        return f"`{read}` in this program reads local variables of other functions" if read else None

    def _mode_reason(self, fix: Fix) -> str | None:
        """Return which code observes the tensors that autograd saves, and so whether it is on."""
        sees = self._model.program.mentions("saved_tensors_hooks")
        is_concerned = sees and not GRAD_MODES.isdisjoint(new_words(fix.edits))
        return "`saved_tensors_hooks` is used in this program" if is_concerned else None

    def _variable_reason(self, fix: Fix) -> str | None:
        """Return a module variable used near the fix that other code sets by name."""
        if not self._variables:
            return None
        around = _words(map(self._model.source.text, _around(fix, self._model)))
        around |= new_words(fix.edits)
        for name in sorted(self._variables & (around | {ANY_NAME})):
            called = f"`{name}`" if name != ANY_NAME else "any variable of the module"
            return f"{called} may be set by other code"
        return None

    def _builtin_reason(self, fix: Fix) -> str | None:
        """Return a name near the fix that is not the builtin of this name."""
        spans = list(map(self._model.source.span, _around(fix, self._model))) if self._rebound else []
        for name in self._rebound:
            place = self._model.source.span(name)[0]
            if any(start <= place < end for start, end in spans):
                return f"`{name.id}` is not Python's function of this name here"
        return None


def _set_variables(model: SemanticModel) -> frozenset[str]:
    """Return the variables used in this file whose value this or other code may set by name, or through the
    module that they were imported from.
    """
    found = model.index.overwritten_names.names_in(model.module.module) | model.analysis.names.set_by_text
    if model.analysis.names.sets_any_name():
        found |= {ANY_NAME}
    return found


def _around(fix: Fix, model: SemanticModel) -> list[ast.stmt]:
    """Return the statements at module level that a fix changes."""
    found = []
    for statement in model.syntax.module.body:
        start, end = model.source.span(statement)
        if any(edit.start <= end and start <= edit.end for edit in fix.edits if not edit.shared):
            found.append(statement)
    return found


def _dispatching(model: SemanticModel) -> str | None:
    """Return why a class that intercepts library calls could observe the calls that a fix replaces."""
    for function in model.syntax.of_type(ast.FunctionDef):
        if function.name in models.INTERCEPTING:
            return f"`{function.name}` in this file intercepts library calls"
    return None


def _looking_reason(fix: Fix, looking: Sequence[ast.Call], model: SemanticModel) -> str | None:
    """Return why a later call could observe the computed value, and under which name."""
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
