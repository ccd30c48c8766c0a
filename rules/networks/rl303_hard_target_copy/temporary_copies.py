"""Networks that hot code copies to use the copy once (for RL303)."""

from __future__ import annotations

import ast

from rlint.rule import (
    BindingKind,
    Guard,
    GuardKind,
    Heat,
    SemanticModel,
    TypeTag,
    frozen,
    regex,
    weight_sync,
)
from rlint.rules.networks.rl303_hard_target_copy.followers import copied_value, is_kept

_CHOSEN = regex(r"""^(not )?[\w.]+( ?[=!]= ?["'][\w-]+["']| is (not )?(None|True|False))?$""")
"""Conditions on a setting, or on an argument that chooses how a function computes."""
_CHOICES = frozenset({GuardKind.SWITCH, GuardKind.PRESENT, GuardKind.RANK, GuardKind.OTHER})


@frozen
class TemporaryCopy:
    """A network that is copied into a local variable, under these conditions."""

    source: ast.expr
    guards: tuple[Guard, ...]


def temporary_copy(call: ast.Call, model: SemanticModel) -> TemporaryCopy | None:
    """Return the copy of a network that hot code makes, uses and discards:
    `net = copy.deepcopy(self.net)`, `nets = {name: copy.deepcopy(net) for name, net in self.nets.items()}`.
    """
    match call:
        case ast.Call(args=[source], keywords=[]) if _copies_networks(source, model):
            pass
        case _:
            return None
    target = _variable_of(call, model)
    if target is None or is_kept(target, model):
        return None
    if model.frequency.heat_of(call).level is not Heat.HOT or _is_trained(target, model):
        return None
    guards = model.frequency.conditions(call)
    if not all(guard.kind in _CHOICES and _CHOSEN.search(guard.text) for guard in guards):
        return None
    return TemporaryCopy(source, guards) if guards or model.frequency.runs_each_pass(call) else None


def _variable_of(call: ast.Call, model: SemanticModel) -> ast.Name | None:
    """Return the local variable to which a copy is assigned, alone or as an item of a new container."""
    statement = model.syntax.statement(call)
    match statement:
        case ast.Assign(targets=[ast.Name() as target], value=value):
            pass
        case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
            pass
        case _:
            return None
    if model.function(statement) is None:
        return None
    match value:
        case ast.ListComp(elt=item) | ast.DictComp(value=item):
            values = [item]
        case ast.List(elts=values) | ast.Tuple(elts=values) | ast.Dict(values=values):
            pass
        case _:
            values = [value]
    return target if any(copied_value(each) is call for each in values) else None


def _is_trained(target: ast.Name, model: SemanticModel) -> bool:
    """Whether the copy may be there to be trained (MAML): its function takes a gradient, and leaves the
    weights of the copy attached.
    """
    function = model.function(target)

    def named(*names: str) -> bool:
        return any(
            model.function(use) is function for each in names for use in model.names.attribute_uses(each)
        )

    return named("backward", "grad") and not named("requires_grad", "requires_grad_")


def _copies_networks(source: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is a network, or holds networks."""
    kind = model.types.type_of(source)
    if kind:
        return kind.tag is TypeTag.MODULE or (kind.item is not None and kind.item.tag is TypeTag.MODULE)
    return weight_sync.is_network(source, model) or _is_item_of_networks(source, model)


def _is_item_of_networks(source: ast.expr, model: SemanticModel) -> bool:
    """Whether a variable is bound to each of several networks: `for name, net in self.nets.items()`."""
    if not isinstance(source, ast.Name):
        return False
    bindings = model.dataflow.definitions(source)
    return bool(bindings) and all(
        binding.kind in (BindingKind.FOR, BindingKind.COMPREHENSION)
        and binding.value is not None
        and _holds_networks(binding.value, model)
        for binding in bindings
    )


def _holds_networks(iterable: ast.expr, model: SemanticModel) -> bool:
    match iterable:
        case ast.Call(func=ast.Attribute(value=owner, attr="items" | "values")):
            iterable = owner
    kind = model.types.type_of(iterable)
    return kind.tag is TypeTag.MODULE or (kind.item is not None and kind.item.tag is TypeTag.MODULE)
