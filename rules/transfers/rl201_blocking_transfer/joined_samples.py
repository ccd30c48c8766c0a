"""Sampled tensors of unknown type that are concatenated and moved to a device."""

from __future__ import annotations

import ast

from rlint.rule import (
    COMPREHENSIONS,
    Binding,
    BindingKind,
    SemanticModel,
    Trait,
    containers,
    descendants,
    last_name,
    models,
    regex,
)

_JOINS = models.having(Trait.JOINS, "torch")
_OUTPUTS = regex(r"(^|_)(log_?p(rob)?s?|values?|logits?|entrop(y|ies)|hiddens?|loss(es)?|embeddings?)(_|$)")
"""Names of outputs of networks, which are on the device."""
_DRAWS = frozenset({"random.choices", "random.sample"})


def is_joined_from_samples(source: ast.expr, model: SemanticModel) -> bool:
    """Whether tensors are concatenated that a function takes from stored data, item by item, or draws from
    it: `torch.stack([row.state for row in rows])`, `rows = random.sample(memory, 32)`, `torch.stack(rows)`.
    Moved right after, they likely are in host memory: each could have been moved before. So could the field
    of a batch whose fields a loop collects: `fields.append([column[i] for i in indices])`,
    `torch.stack(fields[0])`.
    """
    if isinstance(source, ast.Name):
        bound = model.dataflow.definitions(source)
        joined = [each.value for each in bound if each.kind is BindingKind.ASSIGN and not each.path]
        return (
            bool(bound)
            and len(joined) == len(bound)
            and all(_is_joined_field(each, model) for each in joined)
        )
    while isinstance(source, ast.Call):
        if model.names.qualified(source.func) in _JOINS:
            return bool(source.args) and _are_samples(source.args[0], model)
        if not isinstance(source.func, ast.Attribute) or model.names.qualified(source.func) is not None:
            return False
        source = source.func.value
    return False


def _is_joined_field(value: ast.expr | None, model: SemanticModel) -> bool:
    """Whether a field of a batch is concatenated of which a loop collects all: `torch.stack(fields[0])`."""
    match value:
        case ast.Call(func=func, args=[ast.Subscript(slice=ast.Constant())]):
            return model.names.qualified(func) in _JOINS and is_joined_from_samples(value, model)
    return False


def _are_samples(items: ast.expr, model: SemanticModel) -> bool:
    match items:
        case ast.ListComp(elt=item, generators=[each]) | ast.GeneratorExp(elt=item, generators=[each]):
            return _is_taken(item) and _is_taken(each.iter)
        case ast.Call(func=func):
            return model.names.qualified(func) in _DRAWS
        case ast.Subscript(value=ast.Name() as fields, slice=ast.Constant()):
            columns = containers.contents(fields, model) or ()
            return bool(columns) and all(
                isinstance(column, ast.ListComp) and _are_samples(column, model) for column in columns
            )
        case ast.Name():
            bound = model.dataflow.definitions(items)
            return bool(bound) and all(_holds_samples(binding, model) for binding in bound)
    return False


def _holds_samples(binding: Binding, model: SemanticModel) -> bool:
    value = binding.value
    if binding.kind is not BindingKind.ASSIGN or binding.path or value is None:
        return False
    return isinstance(value, (ast.Call, *COMPREHENSIONS)) and _are_samples(value, model)


def _is_taken(item: ast.expr) -> bool:
    """Whether an expression only reads what is stored: `row.state`, `self.states[i]`, `rows[:n]`."""
    if not isinstance(item, (ast.Attribute, ast.Subscript, ast.Name)):
        return False
    if any(_OUTPUTS.search(last_name(node) or "") for node in descendants(item)):
        return False
    return not any(isinstance(node, (ast.Call, *COMPREHENSIONS)) for node in descendants(item))
