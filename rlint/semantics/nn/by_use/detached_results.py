"""Calls of unknown code whose results a file detaches: `value = self.critic(states).detach()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from rlint import models
from rlint.models import vocabulary
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.call_targets import arguments_of
from rlint.syntax.scopes import BindingKind

_DETACHING = ("detach", "detach_")
_DATA = "data"
_AFTER_DATA = models.having(Trait.ONLY_ONE_KIND, TypeTag.TENSOR)
_OF_VALUES = models.methods_of(TypeTag.TENSOR)
_OF_DISTRIBUTIONS = models.methods_of(TypeTag.DISTRIBUTION) - _OF_VALUES
_STEPS = 3
"""Maximum number of assignments between a call and the place that detaches its result."""
_MOST = 40
"""Maximum number of expressions examined for one detached value."""
_BOUND = frozenset({BindingKind.ASSIGN, BindingKind.ANNOTATE, BindingKind.WALRUS})


class DetachedResults:
    """Finds the calls whose results are detached from the graph by name (`.detach()`, `.data.numpy()`), or
    passed to a function that is named as one which does (`get_numpy(values)`). They
    show that the function returns tensors that require grad, even if the networks that it runs are unknown.
    """

    def __init__(self, analysis: FileAnalysis) -> None:
        self._analysis = analysis

    def include(self, call: ast.Call) -> bool:
        """Whether the file detaches a value that it computes from the result of a call, and from no other."""
        return call in self._calls

    @cached_property
    def _calls(self) -> frozenset[ast.Call]:
        each = (list(self._terms(value)) for value in self._detached())
        return frozenset(terms[0] for terms in each if len(terms) == 1)

    def _detached(self) -> Iterator[ast.expr]:
        """Yield the values that the file detaches."""
        syntax = self._analysis.syntax
        named = syntax.written.attributes
        for name in _DETACHING:
            for method in named.get(name, ()):
                if isinstance(syntax.parents.get(method), ast.Call):
                    yield method.value
        for attribute in named.get(_DATA, ()):
            after = syntax.parents.get(attribute)
            if isinstance(after, ast.Attribute) and after.attr in _AFTER_DATA:
                yield attribute.value
        for name in vocabulary.READS_TENSOR:
            for call in syntax.written.calls_of((name,)):
                yield from call.args[:1]

    def _terms(self, detached: ast.expr) -> Iterator[ast.Call]:
        """Yield the calls, other than those of libraries, that a value is computed from."""
        pending, seen = [(detached, _STEPS)], set[ast.expr]()
        while pending and len(seen) < _MOST:
            value, steps = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            if isinstance(value, ast.Name):
                if steps > 0:
                    pending += [(each, steps - 1) for each in self._bound_to(value)]
                continue
            parts = self._parts(value)
            if parts is None:
                assert isinstance(value, ast.Call)
                yield value
            else:
                pending += [(part, steps) for part in parts]

    def _bound_to(self, name: ast.Name) -> list[ast.expr]:
        bindings = self._analysis.definitions.reaching(name)
        return [each.value for each in bindings if each.kind in _BOUND and each.value is not None]

    def _parts(self, value: ast.expr) -> list[ast.expr] | None:
        """Return the values that an expression computes its own from; None for a call of unknown code."""
        match value:
            case ast.BinOp(left=left, right=right):
                return [left, right]
            case ast.UnaryOp(operand=inner) | ast.Subscript(value=inner):
                return [inner]
            case ast.Call(func=ast.Attribute(attr=method)) if method in _OF_DISTRIBUTIONS:
                return []
            case ast.Call(func=ast.Attribute(value=ast.Call() | ast.BinOp() | ast.Subscript() as inner)):
                return [inner]
            case ast.Call(func=ast.Name() | ast.Attribute() as called):
                qualified = self._analysis.names.qualified(called)
                if qualified is not None and models.is_library(qualified):
                    return arguments_of(value) if qualified.startswith("torch.") else []
                if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
                    return [called.value] if called.attr in _OF_VALUES else None
                return None
        return []
