"""Parameters that a function computes the gradient of: `loss` of `def step(self, loss): loss.backward()`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from rlint.models.vocabulary import KEEP_GRAPH
from rlint.semantics.dataflow.reaching_definitions import ReachingDefinitions
from rlint.semantics.interprocedural.call_targets import parameter_of
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.nn.gradient_sources import GradientSources
from rlint.syntax.last_names import calls_named
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import Function, SyntaxIndex
from rlint.syntax.walk import descendants

_LEARNS = ("backward", "manual_backward")
_ASSIGNED = (BindingKind.ASSIGN, BindingKind.WALRUS, BindingKind.AUGMENT)
_MOST = 60
"""Maximum number of variables followed in one function."""


def learned_parameters(syntax: SyntaxIndex, definitions: ReachingDefinitions) -> dict[Function, list[str]]:
    """Return the parameters on which each function of a file calls `backward`, itself or scaled, without
    keeping the graph.
    """
    found: dict[Function, list[str]] = {}
    for call in calls_named(_LEARNS, syntax):
        function = syntax.function(call)
        if function is None or any(keyword.arg in KEEP_GRAPH for keyword in call.keywords):
            continue
        for name in _computed_from(call):
            if any(_is_given(binding) for binding in definitions.reaching(name)):
                found.setdefault(function, []).append(name.id)
    return found


def learned_bindings(syntax: SyntaxIndex, definitions: ReachingDefinitions) -> dict[Function, set[Binding]]:
    """Return the variables of each function from which the values are computed that it calls `backward` on,
    without keeping the graph: `policy_loss` and `loss` for `loss = policy_loss + value_loss`.
    """
    found: dict[Function, set[Binding]] = {}
    kept: set[Function] = set()
    for call in calls_named(_LEARNS, syntax):
        function = syntax.function(call)
        if function is None:
            continue
        if any(keyword.arg in KEEP_GRAPH for keyword in call.keywords):
            kept.add(function)
            continue
        seen = found.setdefault(function, set())
        pending = [binding for name in _computed_from(call) for binding in definitions.reaching(name)]
        while pending and len(seen) < _MOST:
            binding = pending.pop()
            if binding in seen or binding.value is None or binding.kind not in _ASSIGNED:
                continue
            seen.add(binding)
            names = (node for node in descendants(binding.value) if isinstance(node, ast.Name))
            pending += [each for name in names for each in definitions.reaching(name)]
    return {function: seen for function, seen in found.items() if function not in kept}


def learned_calls(syntax: SyntaxIndex, sources: Callable[[ast.expr], GradientSources]) -> frozenset[ast.Call]:
    """Return the calls whose results the gradient of a value comes from that the file calls `backward` on."""
    values: list[ast.expr] = []
    for call in calls_named(_LEARNS, syntax):
        values += call.args
        if isinstance(call.func, ast.Attribute):
            values.append(call.func.value)
    return frozenset(source for value in values for source in sources(value).calls)


def learns_all(targets: Sequence[FunctionSummary], call: ast.Call, argument: ast.AST) -> bool:
    """Whether all functions that a call may run compute the gradient of an argument."""
    return bool(targets) and all(parameter_of(argument, call, one) in one.learned for one in targets)


def _computed_from(call: ast.Call) -> Iterator[ast.Name]:
    """Yield the names in `loss.mean().backward()`, `scaler.scale(loss).backward()` and
    `accelerator.backward(loss)`.
    """
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    for part in (owner, *call.args):
        for node in descendants(part) if part is not None else ():
            if isinstance(node, ast.Name):
                yield node


def _is_given(binding: Binding) -> bool:
    """Whether a variable is a parameter, or computed from that of the same name: `loss = loss / n`."""
    if binding.kind is BindingKind.PARAMETER:
        return True
    return binding.value is not None and any(
        isinstance(node, ast.Name) and node.id == binding.name for node in descendants(binding.value)
    )
