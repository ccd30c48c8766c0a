"""Environments, including those of no library."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.frequency.loop_variables import LoopItem, is_short, items_of
from rlint.semantics.types.results.environment_steps import CALLED_SO
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import Binding, BindingKind

if TYPE_CHECKING:
    from rlint.models.value_type import Type
    from rlint.semantics.interprocedural.summary import FunctionSummary
    from rlint.semantics.model import SemanticModel

_METHODS = frozenset({"step", "reset"})
_DEPTH = 3
"""The number of functions through which a maker of environments is followed."""
_MAKES = regex(
    r"^_?(make|create|build|get|new|init|setup|set_up|load|construct|instantiate|start)_?.*(env|game|sim|world)"
    r"|^_?(env|environment|game)_?(fn|func|creator|factory|builder|maker|constructor|generator)$"
    r"|^(make|create|build)$",
    re.IGNORECASE,
)


def is_environment(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is an environment: by its type, as an object of a project class with `step` and
    `reset`, or by its name if its type is unknown (`env`, `self.envs[i]`).
    """
    if has_steps(expression, model):
        return True
    kind = model.types.type_of(expression)
    named = isinstance(expression, (ast.Name, ast.Attribute, ast.Subscript)) and not kind
    return named and _is_called_so(expression)


def stepped_in_turn(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the container (`envs`) of which each iteration of the innermost loop steps one environment by
    this call: `env.step(action)` in `for env in envs`, `envs[i].step(actions[i])` in `for i in range(n)`.
    None for environments that run one after the other, and for a few that are written out.
    """
    match call.func:
        case ast.Attribute(value=owner, attr="step") if call.args or call.keywords:
            pass
        case _:
            return None
    loops = model.frequency.loops(call)
    if not loops or is_short(loops[0], model.names.qualified):
        return None
    held = _held(owner, items_of(loops[0], model.names.qualified), model)
    return held if held is not None and (is_environment(owner, model) or _is_called_so(held)) else None


def _held(owner: ast.expr, items: dict[str, LoopItem], model: SemanticModel) -> ast.expr | None:
    """Return the container from which each iteration of a loop takes its own value."""
    match owner:
        case ast.Name(id=name) if name in items and all(
            _is_item(b) for b in model.dataflow.definitions(owner)
        ):
            return items[name].over
        case ast.Name():
            bindings = model.dataflow.definitions(owner)
            value = (
                bindings[0].value if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN else None
            )
            if not isinstance(value, ast.Subscript):
                return None
            owner = value  # `env = envs[i]`
    match owner:
        case ast.Subscript(value=held, slice=ast.Name(id=index)) if index in items:
            return held
    return None


def _is_called_so(expression: ast.expr) -> bool:
    return bool(CALLED_SO.search((last_name(expression) or "").lower()))


def _is_item(binding: Binding) -> bool:
    return binding.kind in (BindingKind.FOR, BindingKind.COMPREHENSION)


def has_steps(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is known to be an environment, of a library or of the project."""
    return _is_of_environment(model.types.type_of(expression), model)


def _is_of_environment(kind: Type, model: SemanticModel) -> bool:
    """Whether a type is that of an environment, of a library or of the project."""
    if kind.tag is not TypeTag.INSTANCE:
        return kind.tag is TypeTag.ENVIRONMENT
    cls = model.index.class_of(kind)
    return cls is not None and all(model.index.method(cls, name) is not None for name in _METHODS)


def makes_environment(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call creates an environment: a library's `make`, the class itself, or a function that
    returns one and whose body or name says so (`make_env(...)`).
    """
    qualified = model.names.qualified(call.func)
    if qualified == "builtins.super" or not has_steps(call, model):
        return False
    if model.types.type_of(call.func).tag is TypeTag.CLASS:
        return True
    targets = model.types.call_targets(call)
    if targets:
        return any(
            target.name == "__init__" or _is_named_maker(target) or _makes_in_body(target, model, _DEPTH)
            for target in targets
        )
    return qualified is not None or bool(_MAKES.search(last_name(call.func) or ""))


def _is_named_maker(function: FunctionSummary) -> bool:
    """Whether the name of a function says that it makes an environment. `get_env` may hand out its own."""
    return bool(_MAKES.search(function.name)) and not function.name.startswith("get")


def _makes_in_body(function: FunctionSummary, model: SemanticModel, depth: int) -> bool:
    """Whether a function that returns an environment makes one in each call, rather than handing out one
    that it keeps: it sets no attribute, returns what it has called for, and no function called for an
    environment keeps it either.
    """
    if depth <= 0 or function.remembers or function.sets or not function.returns_call_results:
        return False
    called = [
        target
        for site in function.calls
        if site.path
        for target in model.index.callables(site.path, function.module)
        if target.name != "__init__" and any(_is_of_environment(kind, model) for kind in target.returns)
    ]
    return all(_makes_in_body(target, model, depth - 1) for target in called)
