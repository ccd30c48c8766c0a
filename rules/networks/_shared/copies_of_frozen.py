"""Copies of networks that were frozen at that time, as the code unfreezes the originals afterwards."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import SemanticModel, descendants, dump_as_read

_COPY = "copy.deepcopy"


def is_copy_of_frozen(network: ast.expr, model: SemanticModel) -> bool:
    """Whether a network is a copy of one whose parameters the same function lets require grad later: those of
    the copy then require none, as in `fixed = deepcopy(net)` before `net.requires_grad_()`.
    """
    return any(
        model.function(turned_on) is model.function(copied)
        and turned_on.lineno > copied.lineno
        and dump_as_read(unfrozen) == dump_as_read(copied.args[0])
        for copied in _copies(network, model)
        for turned_on, unfrozen in _unfrozen(model)
    )


def _copies(network: ast.expr, model: SemanticModel) -> Iterator[ast.Call]:
    """Yield the copies that a variable may hold, or an attribute of the file."""
    if isinstance(network, ast.Name):
        values = [binding.value for binding in model.dataflow.definitions(network)]
    elif isinstance(network, ast.Attribute):
        stores = [use for use in model.names.attribute_uses(network.attr) if isinstance(use.ctx, ast.Store)]
        values = [model.names.assigned(store) for store in stores]
    else:
        return
    for value in values:
        for node in descendants(value) if value is not None else ():
            if isinstance(node, ast.Call) and node.args and model.names.qualified(node.func) == _COPY:
                yield node


def _unfrozen(model: SemanticModel) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the networks of the file whose parameters code lets require grad, each after the place."""
    for use in model.names.attribute_uses("requires_grad_"):
        match model.parent(use):
            case ast.Call(args=[] | [ast.Constant(value=True)], keywords=[]):
                yield use, _network_of_parameter(use.value, model)
    for use in model.names.attribute_uses("requires_grad"):
        match model.parent(use):
            case ast.Assign(value=ast.Constant(value=True)):
                yield use, _network_of_parameter(use.value, model)


def _network_of_parameter(value: ast.expr, model: SemanticModel) -> ast.expr:
    """Return the network through whose parameters a loop around goes, or the value itself."""
    for loop in model.frequency.loops(value):
        match loop:
            case ast.For(
                target=ast.Name(id=name),
                iter=ast.Call(func=ast.Attribute(value=network, attr="parameters")),
            ) if isinstance(value, ast.Name) and value.id == name:
                return network
    return value
