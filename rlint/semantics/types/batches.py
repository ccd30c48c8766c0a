"""Data loaders, their batches, and the memory of the batches.

A batch is tensors, possibly nested; `device` says where they are allocated. The `of` of a batch, and of a
tensor on the host, names its memory: one of the names below, or nothing if it is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint import models
from rlint.models.value_type import UNKNOWN, Device, Type, TypeTag

COLLATED = "torch.utils.data.default_collate"
"""Newly stacked by the loader, in memory that is not pinned."""
COLLATED_AND_PINNED = "torch.utils.data._utils.pin_memory.pin_memory"
"""Newly stacked by the loader, then pinned."""
FROM_LOADER = (COLLATED, COLLATED_AND_PINNED)
"""Batches of loaders with the default collate function."""
PINNED = "torch.Tensor.pin_memory"
"""Pinned."""
FROM_NUMPY = "torch.from_numpy"
"""The memory of a numpy array."""
LOADED = "torch.load"
"""Read with `weights_only=True`."""

BATCH_ON_HOST = Type(TypeTag.BATCH, device=Device.HOST)

_MOST_POSITIONAL = 6  # DataLoader(dataset, batch_size, shuffle, sampler, batch_sampler, num_workers, …)
_KEYS = frozenset({"items", "keys"})
_ITEMS = frozenset({"get", "pop"})
# attributes of a batch object, which may also be names of its parts
_OWN = frozenset({"device", "dtype", "ndim", "shape"})

_MOVES = {"to": Device.UNKNOWN, "cpu": Device.HOST, "cuda": Device.CUDA}

_NONE = ast.Constant(value=None)
_FALSE = ast.Constant(value=False)

KindOf = Callable[[ast.expr], Type]


def is_pinned(kind: Type) -> bool:
    """Whether a tensor or batch is in pinned memory."""
    return kind.of in (PINNED, COLLATED_AND_PINNED)


def is_plain(kind: Type) -> bool:
    """Whether this batch is a tensor, or a list, tuple or dict of tensors, and no object of another class."""
    return kind.of in (COLLATED, COLLATED_AND_PINNED, LOADED)


def batch_of_loader(call: ast.Call, type_of: KindOf) -> Type:
    """Return the type of the batches that `DataLoader(...)` yields."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if None in given or len(call.args) > _MOST_POSITIONAL:
        return _device_of_dataset(call, given, BATCH_ON_HOST, type_of)
    pinned = _constant(given.get("pin_memory", _FALSE)) is not False
    size = call.args[1] if len(call.args) > 1 else given.get("batch_size", _FALSE)
    plain = _constant(given.get("collate_fn", _NONE)) is None and _constant(size) is not None
    of = (COLLATED_AND_PINNED if plain else PINNED) if pinned else (COLLATED if plain else "")
    return _device_of_dataset(call, given, BATCH_ON_HOST._replace(of=of), type_of)


def loaded(call: ast.Call, type_of: KindOf, device_of: Callable[[ast.expr], Device]) -> Type:
    """Return the type of `torch.load(...)`: tensors for an in-memory message, anything for a file."""
    if not call.args or type_of(call.args[0]).of != "io.BytesIO":
        return UNKNOWN
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    device = device_of(given["map_location"]) if "map_location" in given else Device.HOST
    plain = _constant(given.get("weights_only", _NONE)) is True
    return Type(TypeTag.BATCH, of=LOADED if plain else "", device=device)


def _device_of_dataset(
    call: ast.Call, given: dict[str | None, ast.expr], batch: Type, type_of: KindOf
) -> Type:
    dataset = call.args[0] if call.args else given.get("dataset")
    item = type_of(dataset).item if dataset is not None else None
    if item is not None and item.tag is TypeTag.TENSOR and item.device is not Device.HOST:
        return Type(TypeTag.BATCH, device=item.device)
    return batch


def _constant(value: ast.expr) -> object:
    return value.value if isinstance(value, ast.Constant) else value


def collated(item: Type) -> Type:
    """Return the type of the result of `default_collate` for such items."""
    if item.tag is TypeTag.TENSOR and item.device is not Device.HOST:
        return Type(TypeTag.BATCH, device=item.device)
    return BATCH_ON_HOST._replace(of=COLLATED)


def item_of_tensors(arguments: list[Type]) -> Type | None:
    """Return the type of the rows of a `TensorDataset` of such arguments, all of which are tensors, on any
    device.
    """
    if not arguments:
        return None
    devices = {kind.device if kind.tag is TypeTag.TENSOR else Device.UNKNOWN for kind in arguments}
    return Type(TypeTag.TENSOR, device=devices.pop() if len(devices) == 1 else Device.UNKNOWN)


def part_of(batch: Type) -> Type:
    """Return the type of an item of a batch."""
    return Type(TypeTag.TENSOR, of=batch.of, device=batch.device)


def joined(first: Type, second: Type) -> Type:
    """Return the type of a value that is either of the two; a batch may itself be one tensor."""
    if {first.tag, second.tag} == {TypeTag.BATCH, TypeTag.TENSOR} and first.device is second.device:
        of = first.of if first.of == second.of else ""
        return Type(TypeTag.BATCH, of=of, device=first.device, optional=first.optional or second.optional)
    return first.joined(second)


def attribute_of(batch: Type, name: str) -> Type:
    """Return the type of an attribute of a batch: a part of it, unless every tensor has such an attribute."""
    if name in _OWN:
        return models.attribute_kind(TypeTag.TENSOR, name)
    return part_of(batch)


def method_result(batch: Type, name: str, arguments: int | None) -> Type:
    """Return the type of a method call on a batch, which may be a dict or a tensor."""
    if name in _KEYS:
        return UNKNOWN
    if name == "values":
        return Type(TypeTag.ITERATOR, item=part_of(batch))
    if name in _ITEMS:
        return part_of(batch)
    known = models.method_fact(TypeTag.TENSOR, name, arguments)
    if known is None or known.result.tag is not TypeTag.TENSOR:
        return known.result if known is not None else UNKNOWN
    return kept(part_of(batch), known.result)


def kept(owner: Type, result: Type) -> Type:
    """Return the result of a method that stays on its tensor's device, with the known facts about its
    memory.
    """
    same_memory = not result.fresh or owner.of == COLLATED
    return result._replace(device=owner.device, of=owner.of if same_memory else "")


def result_of_method(owner: Type, method: str, result: Type) -> Type:
    """Return the result of a method of a library object with unknown arguments: its device is known if no
    argument can name another.
    """
    if method in _MOVES:
        return (
            result
            if owner.tag is not TypeTag.TENSOR
            else owner._replace(of="", device=_MOVES[method], fresh=False, caveat=None)
        )
    return on_device_of(owner, result)


def on_device_of(owner: Type, result: Type) -> Type:
    """Return the result type of a tensor method whose result is on the tensor's device."""
    if owner.tag is result.tag is TypeTag.TENSOR and result.device is Device.UNKNOWN:
        return kept(owner, result)
    return result
