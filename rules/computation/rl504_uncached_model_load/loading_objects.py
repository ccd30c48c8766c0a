"""Objects of the project that read files when they are constructed, such as weights, for one use."""

from __future__ import annotations

import ast

from rlint.rule import EffectKind, Heat, SemanticModel, TypeTag
from rlint.rules.computation.rl504_uncached_model_load.loads import is_meant_once, is_same_each_time

_TRAINS = frozenset({"train", "learn", "fit", "update", "save"})


_READS = EffectKind.FILE_IO | EffectKind.LOADS_MODEL


def read_for_one_use(call: ast.Call, model: SemanticModel) -> str | None:
    """Return what a call does besides constructing an object in each step of which only methods are called,
    if it reads files: `agent = Agent()`, `return agent.act(obs)`.
    """
    function = model.function(call)
    if function is None or not _is_class_name(call.func) or is_meant_once(function):
        return None
    methods = _methods_called(call, model)
    if not methods or not _TRAINS.isdisjoint(methods):
        return None
    if model.frequency.heat_of(call).level is not Heat.HOT or model.usage.is_evaluation(call):
        return None
    if (call.args or call.keywords) and not is_same_each_time(call, model):
        return None
    if model.types.type_of(call).tag not in (TypeTag.INSTANCE, TypeTag.MODULE):
        return None
    kind = model.effects.effect_of(call).kind & _READS
    if not kind:
        return None
    return "loads a model" if kind & EffectKind.LOADS_MODEL else "accesses files"


def _is_class_name(func: ast.expr) -> bool:
    name = func.id if isinstance(func, ast.Name) else getattr(func, "attr", "")
    return bool(name[:1].isupper())


def _methods_called(call: ast.Call, model: SemanticModel) -> frozenset[str]:
    """Return the methods of the object that are called, if nothing else is done with it."""
    places: list[ast.expr] = [call]
    match model.parent(call):
        case ast.Assign(targets=[ast.Name(id=name) as target]):
            scope = model.names.scope(target).lookup(name)
            if scope is None or scope.parent is None or name in scope.globals | scope.nonlocals:
                return frozenset()
            places = [use for use in model.names.uses(name, scope) if use is not target]
    found = set()
    for place in places:
        match model.parent(place):
            case ast.Attribute(attr=method) as attribute if isinstance(model.parent(attribute), ast.Call):
                found.add(method)
            case _:
                return frozenset()
    return frozenset(found)
