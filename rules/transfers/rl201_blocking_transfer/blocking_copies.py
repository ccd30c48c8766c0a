"""Calls that block on a copy from host memory to a device, and what an asynchronous copy gains."""

from __future__ import annotations

import ast

from rlint.rule import (
    FUNCTIONS,
    BindingKind,
    Device,
    ProgramScale,
    SemanticModel,
    Type,
    TypeTag,
    batches,
    frozen,
    target_of_move,
    torch_settings,
    unpacked_options,
)
from rlint.rules.transfers._shared.creations import creation_of
from rlint.rules.transfers._shared.device_moves import move_of
from rlint.rules.transfers._shared.made_in_branches import made_in_branches
from rlint.rules.transfers._shared.there_and_back import left_device
from rlint.rules.transfers.rl201_blocking_transfer.batch_parts import (
    is_from_loader,
    is_joined_from_transitions,
    is_part_of_batch,
)
from rlint.rules.transfers.rl201_blocking_transfer.joined_samples import is_joined_from_samples
from rlint.rules.transfers.rl201_blocking_transfer.moved_samples import moved_samples
from rlint.rules.transfers.rl201_blocking_transfer.transfer_sources import (
    array_of,
    given_type,
    has_unknown_source,
    is_converted_by_helper,
    is_made_here,
    is_used_as_mapping,
    is_used_as_network,
    root_of,
)

VECTORS = "small batches of vectors are copied in microseconds"
_POSITIONAL_BEFORE_NON_BLOCKING = {"to": 2, "cuda": 1}
_KEYWORDS = frozenset({"device", "dtype", "memory_format", "copy"})
_FIELDS = ("obs", "observations", "states", "actions", "rewards", "masks", "dones")
"""Attributes of the buffers of a program."""
_OF_VECTORS = 2
"""The dimensions of a batch of vectors."""
_UNPINNED = "an asynchronous copy gains little while the source is not pinned"
_NEW = "the source is a new tensor, which is not pinned: an asynchronous copy gains little"
_NOTHING_PINNED = "the program pins no memory, and an asynchronous copy from other memory gains little"


@frozen
class BlockingCopy:
    """A call that copies `source` from host memory to a device. `target` is None for a move by a type."""

    call: ast.Call
    source: ast.expr
    target: Device | None
    is_sure: bool
    """Whether the source certainly is in host memory."""


def blocking_copy(call: ast.Call, model: SemanticModel) -> BlockingCopy | None:
    """Return the copy that a call makes, unless another rule or form covers it, or it need not be one; query
    it through `model.once`.
    """
    match call:
        case ast.Call(func=ast.Attribute(value=source, attr="to" | "cuda" as method)):
            return _by_move(call, source, method, model)
        case ast.Call(func=ast.Attribute(value=source, attr="type"), args=[_], keywords=[]):
            return _by_type(call, source, model)
    return None


def _by_type(call: ast.Call, source: ast.expr, model: SemanticModel) -> BlockingCopy | None:
    """Return the copy of `torch.from_numpy(states).type(dtype)`, where `dtype` may name a device."""
    move = move_of(call, model)
    if move is None or not is_on_host(source, model):
        return None
    if is_made_here(source, model) or creation_of(move, model) is not None:
        return None
    return BlockingCopy(call, source, None, is_sure=True)


def _by_move(call: ast.Call, source: ast.expr, method: str, model: SemanticModel) -> BlockingCopy | None:
    if len(call.args) > _POSITIONAL_BEFORE_NON_BLOCKING[method]:
        return None
    if not keywords_of(call, model) <= _KEYWORDS:
        return None
    target = target_of(call, method, model)
    if target is None or target in (Device.HOST, Device.OTHER) or call in moved_samples(call, model):
        return None
    is_sure = is_on_host(source, model)
    if not is_sure and not is_likely_on_host(call, source, model):
        model.silent("{} is not known to be in host memory", source)
        return None
    if is_made_here(source, model) or (target is not Device.CUDA and model.types.is_on_cpu(call)):
        return (
            None  # create-then-move; or no copy at all, unless it fails there: `if not x.is_cuda: x.cuda()`
        )
    move = move_of(call, model)
    if move is not None and (creation_of(move, model) is not None or made_in_branches(move, model)):
        return None
    if left_device(source, model) is not None:
        model.silent("{} has been on the device before: a round trip", source)
        return None
    if not is_sure and not is_likely_part(source, model) and not has_unknown_source(source, model):
        model.silent("where {} comes from is not known", source)
        return None
    return BlockingCopy(call, source, target, is_sure=is_sure)


def keywords_of(call: ast.Call, model: SemanticModel) -> set[str]:
    """Return the keywords of a call, with those that it unpacks from a dict; "**" for unknown ones."""
    named = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
    options = unpacked_options(call, model.types.type_of)
    return named | ({"**"} if options is None else options.keys())


def target_of(call: ast.Call, method: str, model: SemanticModel) -> Device | None:
    """Return the device that a tensor is moved to; None if the call may only change the dtype."""
    if method == "cuda":
        return Device.CUDA
    target = target_of_move(call)
    if target is not None:
        return model.types.device_of(target) if model.types.is_device(target) else None
    options = unpacked_options(call, model.types.type_of) or {}
    return model.types.device_of(options["device"]) if "device" in options else None


def is_on_host(source: ast.expr, model: SemanticModel) -> bool:
    """Whether the source certainly is a tensor in host memory."""
    array = array_of(source, model)
    if array is not None:
        return given_type(array, source, model).tag is TypeTag.NDARRAY
    kind = model.types.type_of(source)
    if kind.device is not Device.HOST or kind.tag not in (TypeTag.TENSOR, TypeTag.BATCH):
        return False
    # a batch of unknown type may be an object whose `to` has no `non_blocking`
    return batches.is_plain(kind) if kind.tag is TypeTag.BATCH else not is_used_as_mapping(source, model)


def is_likely_on_host(call: ast.Call, source: ast.expr, model: SemanticModel) -> bool:
    """Whether the program moves an unknown tensor in a way that makes no sense if it is on the device
    already: by `.cuda()`, under a condition that tests for a device, part by part of a batch, or after
    converting it if it is an array.
    """
    kind = model.types.type_of(source)
    if kind.device is not Device.UNKNOWN or kind.tag not in (TypeTag.TENSOR, TypeTag.UNKNOWN):
        return False
    if not kind and is_used_as_network(source, model):
        return False
    array = array_of(source, model)
    if array is not None:
        if has_data_on_device(model):
            return False
        given = given_type(array, source, model)
        return is_converted_by_helper(source, model) and not given and not may_be_tensor(given)
    assert isinstance(call.func, ast.Attribute)
    if call.func.attr == "cuda" or is_guarded_by_device_test(call, model):
        return True
    is_part: bool = is_likely_part(source, model)
    return is_part


def has_data_on_device(model: SemanticModel) -> bool:
    """Whether the project has environments that run on the GPU, and no class that holds their data in
    arrays.
    """
    if not model.program.sets(torch_settings.DEVICE_ENVIRONMENTS, anywhere=True):
        return False
    return not any(TypeTag.NDARRAY in model.program.attribute_types(name) for name in _FIELDS)


def may_be_tensor(kind: Type) -> bool:
    """Whether one of the choices of an unknown type is a tensor, which may be on the device already."""
    choices = kind.caveat.choices if kind.caveat is not None else ()
    return any(choice.kind.tag is TypeTag.TENSOR for choice in choices)


def is_likely_part(source: ast.expr, model: SemanticModel) -> bool:
    """Whether an unknown tensor is, or comes from, a part of a batch that the program moves part by part."""
    found: bool = (
        is_part_of_batch(source, model)
        or is_joined_from_transitions(source, model)
        or (is_joined_from_samples(source, model) and not has_data_on_device(model))
        or is_from_loader(source, model)
    )
    return found


def is_guarded_by_device_test(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs only if the innermost condition around it finds a device."""
    child: ast.AST = call
    for around in model.ancestors(call):
        if isinstance(around, FUNCTIONS):
            return False
        if isinstance(around, (ast.If, ast.IfExp)) and child is not around.test:
            return model.types.tests_device(around.test)
        child = around
    return False


def minor_gain(source: ast.expr, model: SemanticModel) -> str | None:
    """Return why an asynchronous copy gains little here; None if the source is, or may be, pinned."""
    kind = model.types.type_of(source)
    if is_unpinned(kind):
        return _UNPINNED
    if batches.is_pinned(kind):
        return None
    if _is_new(source, model):
        return _NEW
    if not model.program.sets(torch_settings.PINS):
        return _NOTHING_PINNED
    return VECTORS if is_of_vectors(kind, model) else None


def _is_new(source: ast.expr, model: SemanticModel) -> bool:
    """Whether a tensor has just been computed, such as rows that indices gather: torch allocates it in memory
    that is not pinned, wherever its sources are.
    """
    root = source if model.types.type_of(source).fresh else root_of(source, model)
    values = [root]
    if isinstance(root, ast.Name):
        made = model.dataflow.definitions(root)
        if not made or any(each.kind is not BindingKind.ASSIGN or each.path for each in made):
            return False
        values = [root_of(each.value, model) for each in made if each.value is not None]
    kinds = [model.types.type_of(value) for value in values]
    return all(kind.tag is TypeTag.TENSOR and kind.fresh and not batches.is_pinned(kind) for kind in kinds)


def is_of_vectors(kind: Type, model: SemanticModel) -> bool:
    """Whether a tensor likely holds a few numbers per row, in a program of small networks."""
    return model.program.scale() is ProgramScale.SMALL and (kind.rank is None or kind.rank <= _OF_VECTORS)


def is_unpinned(kind: Type) -> bool:
    """Whether a tensor is known to be in memory that is not pinned."""
    return kind.of in (batches.COLLATED, batches.FROM_NUMPY)
