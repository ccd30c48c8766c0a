"""Round trips: tensors that are read as numbers and copied straight back to the device."""

from __future__ import annotations

import ast

from rlint.rule import (
    Applicability,
    BindingKind,
    Device,
    Fix,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    frozen,
    last_names,
    models,
)
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead, reads_at
from rlint.rules.transfers.rl202_host_round_trip.waiting_reads import waits

_WRAPS = frozenset({"torch.from_numpy", "torch.as_tensor", "torch.asarray"})
_COPIES = frozenset({"torch.tensor"})
_FLOATS = frozenset({"torch.FloatTensor", "torch.Tensor"})
_MAKERS = _WRAPS | _COPIES | _FLOATS
MAKES_FROM_LISTS = _MAKERS - {"torch.from_numpy"}
MAKERS = last_names(*_MAKERS)
"""Functions that create tensors from numbers, by last name."""
_KEEPS = models.having(Trait.KEEPS_ORDER, TypeTag.TENSOR, TypeTag.NDARRAY) | {"detach"}
_CASTS = models.having(Trait.CASTS, TypeTag.TENSOR)
_CHANGES = models.mutators(TypeTag.NDARRAY) | {"byteswap"}
_READS = frozenset({"item", "numpy", "tolist"})
_PLACES = frozenset({"device", "dtype"})


@frozen
class RoundTrip:
    """`made` creates a tensor from the numbers of `read`, and `moved` (`made` itself if it has `device=`)
    moves it to the device. `named` says that a variable holds the numbers in between.
    """

    read: HostRead
    made: ast.Call
    moved: ast.Call
    named: bool


def round_trip(made: ast.Call, model: SemanticModel) -> RoundTrip | None:
    """Return the round trip that ends in a call which creates a tensor from numbers."""
    called = model.names.qualified(made.func)
    if called not in _MAKERS or len(made.args) != 1:
        return None
    given, named = made.args[0], False
    if isinstance(given, ast.Name):
        bindings = model.dataflow.definitions(given)
        if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or bindings[0].path:
            return None
        binding = bindings[0]
        if binding.value is None or not _stays(given, binding.value, model):
            return None
        given, named = binding.value, True
    found = [read for read in reads_at(given, model) if read.method in _READS]
    moved = moved_to_device(made, model)
    if not found or moved is None or not waits(found[0], model):
        return None
    if named and not _is_still(found[0].tensor, given, made, model):
        return None
    return RoundTrip(found[0], made, moved, named)


def _stays(name: ast.Name, value: ast.expr, model: SemanticModel) -> bool:
    """Whether an array is only read between the line that created it and the one that copies it back."""
    scope = model.names.scope(name).lookup(name.id)
    if scope is None or model.names.is_captured(name.id, scope):
        return False
    start, end = model.source.span(value)[1], model.source.span(name)[0]
    for use in model.names.uses(name.id, scope):
        if start <= model.source.span(use)[0] < end:
            parent = model.parent(use)
            changed = isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load)
            called = isinstance(parent, ast.Attribute) and parent.attr in _CHANGES
            if changed or called or not isinstance(use.ctx, ast.Load) or isinstance(parent, ast.AugAssign):
                return False
    return True


def _is_still(tensor: ast.expr, value: ast.expr, made: ast.Call, model: SemanticModel) -> bool:
    """Whether the names of a tensor have the same values when the numbers are copied back as when they were
    read.
    """
    for node in descendants(tensor):
        if isinstance(node, ast.Call):
            return False  # computing it again is not a gain
        if isinstance(node, ast.Name) and node.id != "self":
            there = model.dataflow.bindings_before(node.id, made, model.names.scope(node))
            here = model.dataflow.definitions(node)
            if len(here) != len(there) or any(binding not in here for binding in there):
                return False
            if not model.dataflow.keeps(node, value, made):
                return False
    return not any(
        isinstance(node, ast.Attribute) for node in descendants(tensor)
    ) or model.dataflow.unchanged_between(tensor, value, made)


def moved_to_device(made: ast.Call, model: SemanticModel) -> ast.Call | None:
    """Return the call that moves a tensor to a device: itself, or a following `.to(device)` or `.cuda()`."""
    for keyword in made.keywords:
        if keyword.arg == "device":
            return None if model.types.device_of(keyword.value) is Device.HOST else made
    current: ast.expr = made
    while True:
        call = model.syntax.method_call(current)
        if call is None or not isinstance(method := call.func, ast.Attribute):
            return None
        if method.attr == "cuda":
            return call
        if method.attr == "to" and call.args and model.types.is_device(call.args[0]):
            return None if model.types.device_of(call.args[0]) is Device.HOST else call
        if method.attr not in _KEEPS | _CASTS | {"to"}:
            return None
        current = call


def build_fix(trip: RoundTrip, model: SemanticModel) -> Fix | None:
    """Use the existing tensor. It is moved only if it is on another device."""
    called = model.names.qualified(trip.made.func) or ""
    if trip.read.method != "numpy" or not model.edit.is_relocatable(trip.made):
        return None  # lists and numbers are read with another type
    if any(keyword.arg not in _PLACES for keyword in trip.made.keywords):
        return None
    source = model.edit.parenthesized(trip.read.tensor)
    if _is_detached(trip.read, model):
        source += ".detach()"
    places = [f"{word.arg}={model.source.text(word.value)}" for word in trip.made.keywords]
    if called in _COPIES:
        text = f"{source}.to({', '.join([*places, 'copy=True'])})" if places else f"{source}.clone()"
    elif called in _FLOATS:
        if trip.made.keywords:
            return None
        text = f"{source}.float()"
    else:
        text = f"{source}.to({', '.join(places)})" if places else source
    reasons = []
    if called not in _COPIES:
        reasons.append("the result may share the memory of the tensor that was read")
    if not _is_detached(trip.read, model):
        reasons.append("`.numpy()` no longer refuses a tensor that requires grad")
    if trip.named:
        reasons.append("the array must not have been written to in between")
    if not reasons:
        reasons.append("the strides of the result are those of the tensor that was read")
    reason = ", and ".join(reasons)
    return Fix(
        "Keep the tensor on the device",
        Applicability.UNSAFE,
        (model.edit.replace(trip.made, text),),
        f"{reason[0].upper()}{reason[1:]}",
    )


def _is_detached(read: HostRead, model: SemanticModel) -> bool:
    """Whether `detach()` or `.data` is written between the tensor and its numbers."""
    node: ast.AST = read.tensor
    for parent in model.ancestors(read.tensor):
        if isinstance(parent, ast.Attribute) and parent.value is node and parent.attr in ("detach", "data"):
            return True
        if parent is read.node:
            return False
        node = parent
    return False
