"""Functions of a file whose result is differentiated: `loss = self.loss(batch)`, then `loss.backward()`."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from functools import cached_property

from rlint import models
from rlint.models.value_type import TypeTag
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.call_targets import arguments_of
from rlint.syntax.last_names import calls_named, last_name
from rlint.syntax.scopes import BindingKind

_DIFFERENTIATING = frozenset({"backward", "grad"})
_GRAD = "torch.autograd.grad"
_MOST_CALLS = 20
_STEPS = 3
"""Maximum number of assignments between a loss and the functions that compute its terms."""


class LearnedResults:
    """Finds the calls whose results a file differentiates. They show that the function returns tensors that
    require grad, even if the networks that it runs are unknown.
    """

    def __init__(self, analysis: FileAnalysis) -> None:
        self._analysis = analysis

    def other_calls(self, call: ast.Call) -> list[ast.Call]:
        """Return some other calls of the same function or method whose results the file differentiates."""
        called = call.func
        if not isinstance(called, (ast.Name, ast.Attribute)):
            return []
        if last_name(called) not in self._last_names:
            return []
        if self._analysis.types.type_of(called).tag not in (TypeTag.UNKNOWN, TypeTag.FUNCTION):
            return []
        others = (other for other in self._by_callee.get(ast.dump(called), ()) if other is not call)
        return list(itertools.islice(others, _MOST_CALLS))

    @cached_property
    def _last_names(self) -> frozenset[str | None]:
        return frozenset(last_name(call.func) for calls in self._by_callee.values() for call in calls)

    @cached_property
    def _by_callee(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for call in calls_named(_DIFFERENTIATING, self._analysis.syntax):
            loss = self._loss_of(call)
            for term in self._terms(loss, _STEPS) if loss is not None else ():
                found.setdefault(ast.dump(term.func), []).append(term)
        return found

    def _loss_of(self, call: ast.Call) -> ast.expr | None:
        """Return the expression that a call differentiates."""
        match call:
            case ast.Call(func=ast.Attribute(value=loss, attr="backward")):
                return loss
            case ast.Call(args=[loss, *_]) if self._analysis.names.qualified(call.func) == _GRAD:
                return loss
        return None

    def _is_computed(self, call: ast.Call) -> bool:
        """Whether a call of a function of the project computes its result from others: not a constant with
        which a sum begins.
        """
        qualified = self._analysis.names.qualified(call.func)
        if qualified is not None and models.is_library(qualified):
            return False
        return any(not isinstance(argument, ast.Constant) for argument in arguments_of(call))

    def _terms(self, loss: ast.expr, steps: int) -> Iterator[ast.Call]:
        """Yield the calls of functions whose results a loss consists of: through arithmetic, methods of their
        results, and variables.
        """
        match loss:
            case ast.BinOp(left=left, right=right):
                yield from self._terms(left, steps)
                yield from self._terms(right, steps)
            case ast.UnaryOp(operand=operand):
                yield from self._terms(operand, steps)
            case ast.Call(func=ast.Attribute(value=ast.Call() as inner)):
                yield from self._terms(inner, steps)  # `loss(batch).mean()`
            case ast.Call(func=ast.Name() | ast.Attribute()) if self._is_computed(loss):
                yield loss
            case ast.Name() if steps > 0:
                for binding in self._analysis.definitions.reaching(loss):
                    is_first = not binding.path or binding.path == (0,)
                    if binding.kind is BindingKind.ASSIGN and binding.value is not None and is_first:
                        yield from self._terms(binding.value, steps - 1)
