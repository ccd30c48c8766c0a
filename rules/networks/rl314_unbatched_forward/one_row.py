"""Expressions that distinguish one row from a batch."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, LoopItem, SemanticModel, TypeTag, descendants, parameter_of
from rlint.rules.networks.rl314_unbatched_forward.next_inputs import Iterations


def is_indexed(item: LoopItem, value: ast.expr) -> bool:
    """Whether a key is used as an index, as in `obs[agent]`."""
    return any(
        isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) and node.slice.id == item.name
        for node in descendants(value)
    )


def is_sample(iterable: ast.expr, model: SemanticModel) -> bool:
    """Whether it is a list of transitions drawn by `random.sample`, or a deque of them."""
    if model.types.type_of(iterable).tag is TypeTag.DEQUE:
        return True
    if isinstance(iterable, ast.Name):
        bindings = model.dataflow.definitions(iterable)
        return bool(bindings) and all(
            binding.kind is BindingKind.ASSIGN
            and not binding.path
            and binding.value is not None
            and not isinstance(binding.value, ast.Name)
            and is_sample(binding.value, model)
            for binding in bindings
        )
    return isinstance(iterable, ast.Call) and model.names.qualified(iterable.func) == "random.sample"


def is_bounded_part(call: ast.Call, item: LoopItem) -> bool:
    """Whether a call gets a bounded number of rows at an index: `states[i:i + 256, agent]`."""
    for value in (*call.args, *(keyword.value for keyword in call.keywords)):
        for node in descendants(value):
            if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
                continue
            rows, *others = node.slice.elts
            if isinstance(rows, ast.Slice) and rows.lower is not None and rows.upper is not None:
                return any(isinstance(other, ast.Name) and other.id == item.name for other in others)
    return False


def is_made_row(name: ast.Name, call: ast.Call, look: Iterations, model: SemanticModel) -> bool:
    """Whether the functions that a call may run make a batch of one of the argument that depends on a
    variable: `predict(board)`, which runs the network on `board.unsqueeze(0)`.
    """
    targets = [each for each in model.types.call_targets(call) if each.returns_values]  # not abstract ones
    if not targets:
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    passed = [each for each in given if name in look.names_in([each])]
    return any(
        all(parameter_of(argument, call, target) in target.rows for target in targets) for argument in passed
    )
