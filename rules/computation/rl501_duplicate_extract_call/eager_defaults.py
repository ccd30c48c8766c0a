"""Expensive calls in the default of a lookup, which run even if the container has the item."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from rlint.rule import (
    EffectKind,
    FunctionSummary,
    Heat,
    Impact,
    ImpactLevel,
    SemanticModel,
    TypeTag,
    dump_as_read,
    frozen,
)
from rlint.rules.computation.rl501_duplicate_extract_call.likely_pure import (
    MOST_NAMESAKES,
    functions_named,
    iterates,
)

_LOOKUPS = frozenset({"get", "pop", "setdefault"})
_READS_FILES = EffectKind.FILE_IO | EffectKind.NETWORK | EffectKind.LOADS_MODEL


_CACHED = Impact(ImpactLevel.MEDIUM, "the program caches what this call returns, so it likely takes long")


@frozen
class EagerDefault:
    """An expensive call as the default of a lookup in a container, and its impact if the program tells it."""

    container: ast.expr
    default: ast.Call
    stated: Impact | None


def eager_default(call: ast.Call, model: SemanticModel) -> EagerDefault | None:
    """Return the expensive default of a lookup: `cache.get(key, embed(text))` embeds the text even if `cache`
    has the key.
    """
    match call:
        case ast.Call(func=ast.Attribute(value=container, attr=method), args=[_, ast.Call() as default]):
            if method not in _LOOKUPS or not _may_be_dict(container, method, default, model):
                return None
        case ast.Call(args=[container, _, ast.Call() as default]):
            if model.names.qualified(call.func) != "builtins.getattr":
                return None
        case _:
            return None
    if _stores_result(container, default, model):
        is_hot = model.frequency.heat_of(call).level is Heat.HOT
        return EagerDefault(container, default, _CACHED if is_hot else None)
    return EagerDefault(container, default, None) if _is_expensive(default, model) else None


def _may_be_dict(container: ast.expr, method: str, default: ast.Call, model: SemanticModel) -> bool:
    """Whether a container is a dict, as far as its type, the method or what is put into it tells."""
    tag = model.types.type_of(container).tag
    if tag is not TypeTag.UNKNOWN:
        return tag is TypeTag.DICT
    return method == "setdefault" or _stores_result(container, default, model)


def _is_expensive(default: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs a network, reads files, or runs a function of the project that does one of these or
    iterates over something.
    """
    if model.nn.network_run(default) is not None:
        return True
    functions = functions_named(default, model)
    if not functions:
        return bool(model.effects.call_effect(default).kind & _READS_FILES)
    return len(functions) <= MOST_NAMESAKES and all(_does_much(each, model) for each in functions)


def _does_much(function: FunctionSummary, model: SemanticModel) -> bool:
    return bool(model.index.effect_of(function).kind & _READS_FILES) or iterates(function, model)


def _stores_result(container: ast.expr, default: ast.Call, model: SemanticModel) -> bool:
    """Whether other code stores results of the same method of the project in a container, as a cache does:
    `cache[key] = encoder.embed(text)`.
    """
    if not isinstance(default.func, ast.Attribute) or not functions_named(default, model):
        return False
    called, shape = dump_as_read(default.func), dump_as_read(container)
    return any(
        dump_as_read(use) == shape and _is_call_of(called, model.names.assigned(place))
        for use in _uses(container, model)
        if isinstance(place := model.parent(use), ast.Subscript) and isinstance(place.ctx, ast.Store)
    )


def _is_call_of(called: str, value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and dump_as_read(value.func) == called


def _uses(container: ast.expr, model: SemanticModel) -> Iterable[ast.expr]:
    if isinstance(container, ast.Name):
        scope = model.names.scope(container).lookup(container.id)
        return model.names.uses(container.id, scope) if scope is not None else ()
    return model.names.attribute_uses(container.attr) if isinstance(container, ast.Attribute) else ()
