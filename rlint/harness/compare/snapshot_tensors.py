"""Nodes of PyTorch's tensors, generators and modules."""

from __future__ import annotations

import sys
from typing import Any

from rlint.harness.compare.random_streams import torch_stream
from rlint.harness.compare.shared_memory import Extent
from rlint.harness.compare.snapshot import Node, ObjectFact, Walker
from rlint.harness.compare.snapshot_arrays import visible_strides
from rlint.harness.compare.snapshot_objects import attributes_of
from rlint.harness.compare.values import TextData, TorchData

_FLATTENED = ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set")
_HOOK_DETAILS = ("_with_kwargs", "_always_called")


def fill(node: Node, value: Any, walker: Walker) -> bool:
    """Complete the node of a PyTorch object; return False for others."""
    torch: Any = sys.modules["torch"]
    if isinstance(value, torch.Tensor):
        _tensor(node, value, walker)
        walker.objects.append((value, node))
    elif isinstance(value, torch.Generator):
        node.mutable, node.kind, node.data = True, "random stream", torch_stream(value)
        node.facts = [ObjectFact("device", ".device", str(value.device))]
    elif isinstance(value, torch.nn.Module):
        _module(node, value, walker)
    elif isinstance(value, (torch.dtype, torch.device, torch.layout, torch.memory_format)):
        node.data = TextData(str(value))
    elif isinstance(value, (torch.UntypedStorage, torch.TypedStorage)):
        node.mutable = True
        node.facts = [
            ObjectFact("device", ".device", str(value.device)),
            ObjectFact("shape", ".nbytes()", value.nbytes()),
        ]
    else:
        return False
    return True


def _tensor(node: Node, value: Any, walker: Walker) -> None:
    torch: Any = sys.modules["torch"]
    node.mutable = True
    if torch.nn.parameter.is_lazy(value):
        return  # lazily initialised: it has no values yet
    with torch.no_grad():
        plain = value.detach()
        node.facts = [
            ObjectFact("type", ".layout", str(plain.layout)),
            ObjectFact("dtype", ".dtype", str(plain.dtype)),
            ObjectFact("shape", ".shape", tuple(plain.shape)),
            ObjectFact("device", ".device", str(plain.device)),
        ]
        if plain.layout is torch.strided and not plain.is_nested:
            strides = visible_strides(tuple(plain.shape), tuple(plain.stride()))
            node.facts.append(ObjectFact("strides", ".stride()", strides))
            node.extent = _extent(plain)
        node.facts += [
            ObjectFact("requires_grad", ".requires_grad", value.requires_grad),
            ObjectFact("requires_grad", ".is_leaf", value.is_leaf),
            ObjectFact("requires_grad", ".is_inference()", value.is_inference()),
        ]
        _contents(node, plain, walker)
        if value.is_leaf or value.retains_grad:
            node.parts[".grad"] = walker.child(value.grad)
    for name, attribute in (attributes_of(value) or {}).items():
        node.parts[f".{name}"] = walker.child(attribute)


def _contents(node: Node, plain: Any, walker: Walker) -> None:
    torch: Any = sys.modules["torch"]
    if plain.is_nested:
        node.items = walker.children(plain.unbind())
    elif plain.layout is torch.sparse_coo:
        node.facts.append(ObjectFact("attribute", ".is_coalesced()", plain.is_coalesced()))
        node.parts["._indices()"] = walker.child(plain._indices())
        node.parts["._values()"] = walker.child(plain._values())
    elif plain.layout in (torch.sparse_csr, torch.sparse_bsr):
        node.parts[".crow_indices()"] = walker.child(plain.crow_indices())
        node.parts[".col_indices()"] = walker.child(plain.col_indices())
        node.parts[".values()"] = walker.child(plain.values())
    elif plain.layout in (torch.sparse_csc, torch.sparse_bsc):
        node.parts[".ccol_indices()"] = walker.child(plain.ccol_indices())
        node.parts[".row_indices()"] = walker.child(plain.row_indices())
        node.parts[".values()"] = walker.child(plain.values())
    elif plain.device.type != "meta":
        if plain.is_quantized:
            node.facts.append(ObjectFact("dtype", ".qscheme()", str(plain.qscheme())))
            node.parts[".dequantize()"] = walker.child(plain.dequantize())
            plain = plain.int_repr()
        node.data = TorchData(copied(plain))


def copied(tensor: Any) -> Any:
    """Return a dense tensor's values, contiguous and on the host."""
    torch: Any = sys.modules["torch"]
    with torch.no_grad():
        dense = tensor.detach().to_dense() if tensor.layout is not torch.strided else tensor.detach()
        plain = dense.resolve_conj().resolve_neg().to("cpu", copy=True)
        return plain.contiguous()


def _extent(plain: Any) -> Extent | None:
    width = plain.element_size()
    strides = tuple(stride * width for stride in plain.stride())
    if plain.numel() == 0:
        return None
    if plain.device.type == "meta":  # no memory, but a storage
        storage = plain.untyped_storage()
        space = f"meta storage {storage._cdata}"
        return Extent(space, plain.storage_offset() * width, width, tuple(plain.shape), strides)
    space = "host" if plain.device.type == "cpu" else str(plain.device)
    return Extent(space, plain.data_ptr(), width, tuple(plain.shape), strides)


def _module(node: Node, value: Any, walker: Walker) -> None:
    """Complete the node of a module, with attributes, parameters, buffers and submodules."""
    node.mutable = True
    held = attributes_of(value) or {}
    fleeting = held.get("_non_persistent_buffers_set", ())
    kept = [name for name, tensor in held.get("_parameters", {}).items() if tensor is not None]
    kept += [
        name
        for name, tensor in held.get("_buffers", {}).items()
        if tensor is not None and name not in fleeting
    ]
    node.parts[".state_dict()"] = walker.child(kept)
    for registry in ("_parameters", "_buffers", "_modules"):
        for name, attribute in held.get(registry, {}).items():
            node.parts[f".{name}"] = walker.child(attribute)
    for name, attribute in held.items():
        if name in _FLATTENED or name.endswith(_HOOK_DETAILS):
            continue
        if name.endswith("_hooks") and isinstance(attribute, dict):  # by numbers that differ from run to run
            attribute = list(attribute.values())  # noqa: PLW2901 - in their order
        node.parts[f".{name}"] = walker.child(attribute)
