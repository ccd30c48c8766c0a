"""Tensors that are elements of a Python list from which a constructor creates another tensor."""

from __future__ import annotations

import ast

from rlint.rule import COMPREHENSIONS, Binding, BindingKind, Device, SemanticModel, frozen
from rlint.rules.transfers.rl202_host_round_trip.round_trips import MAKES_FROM_LISTS, moved_to_device
from rlint.rules.transfers.rl202_host_round_trip.tensor_devices import where

_OFF_DEVICE = (None, Device.HOST, Device.OTHER)


@frozen
class ListedTensors:
    """`tensors` are the elements that a constructor reads from a device, one by one; `each` says that there
    is one for each iteration of a comprehension or loop, and `returns` that the result is copied back to the
    device.
    """

    tensors: tuple[ast.expr, ...]
    each: bool
    returns: bool


def listed_tensors(made: ast.Call, model: SemanticModel) -> ListedTensors | None:
    """Return the tensors that `torch.tensor([x.sum(), y.sum()])` reads; None if they cost little: one
    that the program needs on the host.
    """
    if len(made.args) != 1 or model.names.qualified(made.func) not in MAKES_FROM_LISTS:
        return None
    given = made.args[0]
    each = isinstance(given, COMPREHENSIONS)
    if isinstance(given, ast.Name):
        appended = _appended_in_loops(given, model)
        found = tuple(element for element in appended if _is_on_device(element, model))
        each = bool(found)
    elif isinstance(given, (ast.List, ast.Tuple)):
        found = tuple(element for element in given.elts if _is_on_device(element, model))
    elif isinstance(given, ast.ListComp) and _is_on_device(given.elt, model):
        found = (given.elt,)
    else:
        return None
    returns = moved_to_device(made, model) is not None
    return ListedTensors(found, each, returns) if each or len(found) > 1 or (found and returns) else None


def _appended_in_loops(name: ast.Name, model: SemanticModel) -> list[ast.expr]:
    """Return what loops append to a list that a variable of a function holds, and that begins empty."""
    made = model.dataflow.definitions(name)
    scope = model.names.scope(name).lookup(name.id)
    if scope is None or not scope.is_function or not all(_is_empty_list(binding) for binding in made):
        return []
    calls = (model.syntax.method_call(use) for use in model.names.reads(name.id, scope))
    return [
        call.args[0]
        for call in calls
        if call is not None
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "append"
        and isinstance(call.func.value, ast.Name)
        and any(each in made for each in model.dataflow.definitions(call.func.value))
        and len(call.args) == 1
        and set(model.frequency.loops(call)) - set(model.frequency.loops(name))
    ]


def _is_empty_list(binding: Binding) -> bool:
    match binding.value:
        case ast.List(elts=[]):
            return binding.kind is BindingKind.ASSIGN
        case ast.Call(func=ast.Name(id="list"), args=[], keywords=[]):
            return binding.kind is BindingKind.ASSIGN
    return False


def _is_on_device(element: ast.expr, model: SemanticModel) -> bool:
    return where(element, model) not in _OFF_DEVICE
