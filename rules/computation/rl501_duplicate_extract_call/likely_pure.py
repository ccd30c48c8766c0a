"""Calls of functions that likely have no side effects, although they run code of unknown effect."""

from __future__ import annotations

import ast

from rlint.rule import EffectKind, FunctionSummary, SemanticModel, TypeTag, models, regex

_HARMLESS = EffectKind.READS | EffectKind.UNKNOWN | EffectKind.INDIRECT | EffectKind.WRITES_OUTPUT
_ACTS = regex(
    r"^_*(act|add|advance|append|apply|backward|choose|clear|collect|create|do|draw|execute|explore|fetch|fit|"
    r"generate|insert|init|launch|learn|load|log|make|move|new|next|perform|play|pop|process|push|put|"
    r"random|read|receive|recv|register|remove|report|reset|roll|rollout|run|sample|save|select|send|set|setup|"
    r"simulate|spawn|start|step|store|submit|swap|take|tick|train|undo|update|wait|write)(_|[A-Z]|$)"
)
_COMMON = (TypeTag.LIST, TypeTag.DICT, TypeTag.SET, TypeTag.STR, TypeTag.NDARRAY, TypeTag.TENSOR)
MOST_NAMESAKES = 2
"""A name that more methods of the project have determines none of them."""
_DEPTH = 3


def announces_change(name: str) -> bool:
    """Whether a function of this name changes something, or returns another value each time."""
    return _ACTS.search(name) is not None


def is_likely_repeatable(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs a function of the project, which its name may determine, that does not visibly
    change anything, iterates over something, and returns a value.
    """
    functions = functions_named(call, model)
    if not 0 < len(functions) <= MOST_NAMESAKES or model.program.may_replace(functions[0].name):
        return False
    return all(_is_likely_pure(each, model) and iterates(each, model) for each in functions)


def functions_named(call: ast.Call, model: SemanticModel) -> list[FunctionSummary]:
    """Return the functions of the project that a call runs, or that its name may mean if the class of the
    object is not known.
    """
    functions = model.types.call_targets(call)
    if functions or not isinstance(call.func, ast.Attribute):
        return functions
    name = call.func.attr
    if model.types.type_of(call.func.value).tag is not TypeTag.UNKNOWN:
        return []
    if any(models.method_fact(tag, name) is not None for tag in _COMMON):
        return []  # `rows.values()` may be that of a dict
    return model.index.methods_named(name)


def _is_likely_pure(function: FunctionSummary, model: SemanticModel) -> bool:
    if announces_change(function.name) or function.remembers or not function.returns_values:
        return False
    return not model.index.effect_of(function).kind & ~_HARMLESS


def iterates(function: FunctionSummary, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether a function, or one that it calls, contains a loop."""
    if any(not loop.bounded for loop in function.loops):
        return True
    return depth > 0 and any(
        iterates(each, model, depth - 1)
        for path, _ in function.effect_paths
        for each in model.index.callables(path, function.module)
        if each.path != function.path
    )
