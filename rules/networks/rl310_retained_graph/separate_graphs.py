"""Losses that share no part of a graph, although one function computes values for both: those of an actor and
a critic.
"""

from __future__ import annotations

import ast
from itertools import product

from rlint.rule import GradientSources, SemanticModel, TypeTag, last_name, regex, separate_outputs, vocabulary
from rlint.rules.networks._shared.backward_calls import backward_of, backwards_in

_ALL = -1
_GIVES_DATA = regex(r"sample|batch|load|next|recall|draw|collate|reset|step|read|fetch|generator")


def gives_data(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the result of a call surely is not part of a graph."""
    if model.types.call_targets(call):
        return not model.gradients.gives_gradient(call)
    if _makes_settings(call, model):
        return True
    return bool(_GIVES_DATA.search((last_name(call.func) or "").lower()))


def _makes_settings(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call creates a namespace, or an object of a class of the project that is no network."""
    if model.names.qualified(call.func) in vocabulary.SETTINGS_CLASSES:
        return True
    kind = model.types.type_of(call)
    return kind.tag is TypeTag.INSTANCE and model.types.class_of_value(call) is not None


def have_separate_graphs(backward: ast.Call, other: ast.AST, model: SemanticModel) -> bool:
    """Whether two calls of `backward` likely run through graphs without a common part."""
    found = _sources(backward, other, model)
    if found is None:
        return False
    one, another = found
    if not (one.calls and another.calls) or shares_parameters(one, another):
        return False
    return not any(_share(call, one, another, model) for call in _common(one, another, model))


def divided_calls(backward: ast.Call, model: SemanticModel) -> list[ast.Call]:
    """Return the calls that compute values for this and for another call of `backward` in the function."""
    found: dict[ast.Call, None] = {}
    for other in backwards_in(model.function(backward), model):
        sources = _sources(backward, other.call, model)
        if sources is not None:
            found.update(dict.fromkeys(_common(*sources, model)))
    return list(found)


def _sources(
    backward: ast.Call, other: ast.AST, model: SemanticModel
) -> tuple[GradientSources, GradientSources] | None:
    if backward is other or not isinstance(other, ast.Call):
        return None
    one, another = backward_of(backward, model), backward_of(other, model)
    if one is None or another is None:
        return None
    return model.gradients.sources(one.loss), model.gradients.sources(another.loss)


def _common(one: GradientSources, another: GradientSources, model: SemanticModel) -> list[ast.Call]:
    """Return the calls that both values depend on, and that may return a tensor which requires grad."""
    return [call for call in one.calls if call in another.calls and not gives_data(call, model)]


def shares_parameters(one: GradientSources, another: GradientSources) -> bool:
    """Whether two values depend on the same parameter or attribute."""
    names = ({ast.dump(each) for each in (*sources.parameters, *sources.kept)} for sources in (one, another))
    return bool(next(names) & next(names))


def _share(call: ast.Call, one: GradientSources, another: GradientSources, model: SemanticModel) -> bool:
    """Whether the parts of a call's result that two values depend on may share a graph: not where the call
    runs separate networks for them.
    """
    return any(
        not _are_separate(call, first, second, model)
        for first, second in product(one.items_of(call), another.items_of(call))
    )


def _are_separate(call: ast.Call, first: int, second: int, model: SemanticModel) -> bool:
    """Whether all functions that a call may run compute two items of their result with separate networks."""
    if _ALL in (first, second) or first == second:
        return False
    targets = model.types.call_targets(call)
    for target in targets:
        if max(first, second) >= len(target.outputs):
            return False
        made = [set(target.outputs[item]) - separate_outputs.SQUASHED for item in (first, second)]
        if not all(made) or made[0] & made[1]:
            return False
        cls = model.index.modules[target.module].classes.get(target.qualname.rpartition(".")[0])
        if cls is None or any(model.index.method(cls, name) for name in made[0] | made[1]):
            return False  # two methods may run a common network
    return bool(targets)
