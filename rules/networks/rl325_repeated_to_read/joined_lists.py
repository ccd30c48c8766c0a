"""Lists that a function only fills and concatenates: `inputs.append(x)`, then `torch.cat(inputs, dim=-1)`."""

from __future__ import annotations

import ast

from rlint.rule import Binding, SemanticModel, Trait, TypeTag, models

_INSERTS = models.having(Trait.INSERTS, TypeTag.LIST)
_FILLS = _INSERTS | models.having(Trait.INSERTS_ALL, TypeTag.LIST)
_READS = models.having(Trait.KEEPS_VALUES | Trait.KEEPS_ORDER | Trait.ELEMENTWISE, TypeTag.TENSOR) - {
    *("view", "view_as", "unflatten"),
}
"""Methods that return the elements of a tensor, also of one that is expanded."""
_JOINS = models.having(Trait.JOINS, "torch")


def is_joined_list(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call appends to a list of this function that is only filled, and then concatenated to a
    tensor, also by a comprehension over its items.
    """
    match call.func:
        case ast.Attribute(value=ast.Name() as items, attr=method) if method in _INSERTS:
            return model.once(_is_joined, items)
    return False


def _is_joined(items: ast.Name, model: SemanticModel) -> bool:
    made = [each for each in model.dataflow.definitions(items) if _is_empty_list(each)]
    if len(made) != 1:
        return False
    is_joined = False
    for use in model.analysis.readers(made[0], model.names.scope(items)):
        around = model.parent(use)
        if isinstance(around, ast.Attribute) and around.attr in _FILLS:
            continue
        if not (_is_join(around, model) or _is_joined_by_item(use, model)):
            return False
        is_joined = True
    return is_joined


def _is_empty_list(binding: Binding) -> bool:
    """Whether a variable begins as a list: `inputs = []`, `inputs, others = [], []`."""
    value = binding.value
    for place in binding.path:
        if not isinstance(value, ast.Tuple) or place >= len(value.elts):
            return False
        value = value.elts[place]
    return isinstance(value, ast.List)


def _is_join(node: ast.AST | None, model: SemanticModel) -> bool:
    return isinstance(node, ast.Call) and model.names.qualified(node.func) in _JOINS


def _is_joined_by_item(use: ast.Name, model: SemanticModel) -> bool:
    """Whether a comprehension over the list, which is concatenated, returns the elements of each item:
    `torch.cat([x.reshape(n, -1) for x in inputs])`.
    """
    generator = model.parent(use)
    made = model.parent(generator) if isinstance(generator, ast.comprehension) else None
    match made:
        case (
            ast.ListComp(elt=value, generators=[ast.comprehension(target=ast.Name(id=name))])
            | ast.GeneratorExp(elt=value, generators=[ast.comprehension(target=ast.Name(id=name))])
        ) if generator is made.generators[0]:
            while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
                if value.func.attr not in _READS:
                    return False
                value = value.func.value
            return isinstance(value, ast.Name) and value.id == name and _is_join(model.parent(made), model)
    return False
