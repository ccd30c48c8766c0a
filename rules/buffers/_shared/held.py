"""Lists and deques that hold transitions, and the number of items picked from them."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, Type, TypeTag, numbers

FEW = 8
"""Picking up to this many items costs nothing."""
SHORT = 10_000
"""In a deque with fewer items, indexing is fast enough."""

NO_TRANSITIONS = (
    TypeTag.STR,
    TypeTag.INT,
    TypeTag.FLOAT,
    TypeTag.BOOL,
    TypeTag.PATH,
    TypeTag.FUNCTION,
    TypeTag.MODULE,
    TypeTag.ENVIRONMENT,
)


def walks(kind: Type) -> str:
    """Return the additional cost of this container."""
    if kind.tag is TypeTag.DEQUE:
        return ", and indexing a deque scans it from the nearer end"
    return ", and its fields must be stacked again"


def may_hold_transitions(kind: Type) -> bool:
    """Whether a value of this type may be a list of transitions."""
    if kind and kind.tag not in (TypeTag.LIST, TypeTag.DEQUE, TypeTag.TUPLE):
        return False
    return kind.item is None or kind.item.tag not in NO_TRANSITIONS


def is_sampling(node: ast.AST, model: SemanticModel) -> bool:
    """Whether the node is in a function that samples, judging by its name."""
    function = model.function(node)
    return function is not None and "sample" in function.name and "upsample" not in function.name


def is_counted(indices: ast.expr, model: SemanticModel) -> bool:
    """Whether indices are not drawn, but counted: `range(n_agents)`."""
    return isinstance(indices, ast.Call) and model.names.qualified(indices.func) == "builtins.range"


def is_counter(index: ast.expr, model: SemanticModel) -> bool:
    """Whether a variable only counts: `i` of `for i in range(len(batch))`."""
    bindings = model.dataflow.definitions(index) if isinstance(index, ast.Name) else []
    return bool(bindings) and all(
        each.kind in (BindingKind.FOR, BindingKind.COMPREHENSION)
        and each.value is not None
        and is_counted(each.value, model)
        for each in bindings
    )


def are_few(size: ast.expr | None, model: SemanticModel) -> bool:
    """Whether a constant number of items surely is small."""
    number = numbers.number_of(size, model) if size is not None else None
    return number is not None and number.value < FEW


def is_length_of(size: ast.expr, held: ast.expr, model: SemanticModel) -> bool:
    """Whether the whole list is drawn: `random.sample(items, len(items))` shuffles."""
    match size:
        case ast.Call(func=func, args=[counted]) if model.names.qualified(func) == "builtins.len":
            return ast.dump(counted) == ast.dump(held)
    return False


def is_short(held: ast.expr, model: SemanticModel, below: int = SHORT) -> bool:
    """Whether a deque is created with a `maxlen` that is known to be small."""
    values: list[ast.expr | None] = []
    if isinstance(held, ast.Name):
        values = [
            binding.value
            for binding in model.dataflow.definitions(held)
            if binding.kind is BindingKind.ASSIGN
        ]
    elif isinstance(held, ast.Attribute):
        for use in model.names.attribute_uses(held.attr):
            parent = model.parent(use)
            if isinstance(use.ctx, ast.Store) and isinstance(parent, (ast.Assign, ast.AnnAssign)):
                values.append(parent.value)
    for value in values:
        if not isinstance(value, ast.Call):
            continue
        given = [keyword.value for keyword in value.keywords if keyword.arg == "maxlen"] or value.args[1:2]
        number = numbers.number_of(given[0], model) if given else None
        if number is not None and number.value < below:
            return True
    return False
