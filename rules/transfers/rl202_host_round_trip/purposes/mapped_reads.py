"""Reads in a lambda that a function of Python calls for each item: `map(lambda x: x.item(), losses)`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import COMPREHENSIONS, SemanticModel, TypeTag, descendants, frozen
from rlint.rules.transfers._shared.element_reads import mapped_read
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead, reads_below
from rlint.rules.transfers.rl202_host_round_trip.read_together import is_plain
from rlint.rules.transfers.rl202_host_round_trip.waiting_reads import is_hot, is_supposed

_TAKES_FUNCTION = frozenset({"builtins.map", "builtins.filter"})
_TAKES_KEY = frozenset({"builtins.max", "builtins.min", "builtins.sorted"})


@frozen
class MappedReads:
    """`reads` are made for each of the items that `caller` passes to a lambda."""

    reads: Sequence[HostRead]
    caller: ast.Call
    items: Sequence[ast.expr]


def mapped_reads(read: HostRead, model: SemanticModel) -> MappedReads | None:
    """Return the reads of the lambda around a read that depend on the item it is called for."""
    function = _lambda_around(read.node, model)
    return model.once(_reads_for_items, function) if function is not None else None


def _lambda_around(node: ast.AST, model: SemanticModel) -> ast.Lambda | None:
    """Return the lambda that evaluates a part of a statement, unless a comprehension in it does."""
    for around in model.ancestors(node):
        if isinstance(around, ast.Lambda):
            return around
        if isinstance(around, (ast.stmt, *COMPREHENSIONS)):
            return None
    return None


def _reads_for_items(function: ast.Lambda, model: SemanticModel) -> MappedReads | None:
    caller, items = _caller(function, model)
    if caller is None or _belongs_to_elements(function, items, model):
        return None
    given = {argument.arg for argument in function.args.args}
    found = [
        read
        for read in reads_below(function.body, model)
        if _lambda_around(read.node, model) is function
        and is_hot(read, model)
        and not is_supposed(read, model)
        and _is_of_item(read.tensor, given, model)
    ]
    found.sort(key=lambda read: model.source.span(read.node))
    return MappedReads(found, caller, items) if found else None


def _caller(function: ast.Lambda, model: SemanticModel) -> tuple[ast.Call | None, Sequence[ast.expr]]:
    """Return the call of Python's own function that calls a lambda for each item, and what has the items."""
    parent = model.parent(function)
    if isinstance(parent, ast.keyword) and parent.arg == "key":
        call = model.parent(parent)
        if isinstance(call, ast.Call) and model.names.qualified(call.func) in _TAKES_KEY:
            return (call, call.args) if len(call.args) == 1 else (None, ())
    if isinstance(parent, ast.Call) and model.names.qualified(parent.func) in _TAKES_FUNCTION:
        return parent, parent.args[1:]
    return None, ()


def _belongs_to_elements(function: ast.Lambda, items: Sequence[ast.expr], model: SemanticModel) -> bool:
    """Whether item-per-element looks at the numbers of one tensor that a lambda reads."""
    return mapped_read(function, model) and any(
        model.types.type_of(each).tag is TypeTag.TENSOR for each in items
    )


def _is_of_item(tensor: ast.expr, given: set[str], model: SemanticModel) -> bool:
    """Whether a tensor is the item of a lambda or is found by it, without costly computation."""
    names = (part.id for part in descendants(tensor) if isinstance(part, ast.Name))
    return any(name in given for name in names) and is_plain(tensor, model)
