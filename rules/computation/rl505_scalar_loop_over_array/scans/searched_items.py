"""Functions of the project that scan a whole array, called for one item after the other."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, parameter_of, variable_names
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop


def searched_items(made: ast.ListComp, model: SemanticModel) -> ItemLoop | None:
    """Return the search of `[self.index_of(edge.end) for edge in edges]`, where `index_of` computes the
    distance to all rows of an array and returns the place of the smallest.
    """
    match made.generators:
        case [ast.comprehension(target=target, is_async=0)]:
            pass
        case _:
            return None
    call = made.elt
    while isinstance(call, ast.Call) and model.names.qualified(call.func) in (
        "builtins.int",
        "builtins.float",
    ):
        if len(call.args) != 1:
            return None
        call = call.args[0]
    if not isinstance(call, ast.Call):
        return None
    targets = model.types.call_targets(call)
    own = variable_names(target)
    passed = [
        argument
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
        if variable_names(argument) & own
    ]
    if len(targets) != 1 or len(passed) != 1 or not targets[0].searches[0]:
        return None
    if parameter_of(passed[0], call, targets[0]) != targets[0].searches[0]:
        return None
    called = model.source.text(call.func)
    return ItemLoop(
        call.func,
        f"calls `{called}` for each item, which scans all rows of an array each time,",
        "Keep a dict from each row to its index if items equal rows, or search for all items at once: one "
        "matrix of distances, and its argmin along an axis",
        sized=True,
        heavy=True,
    )
