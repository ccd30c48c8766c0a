"""Nodes of numpy's arrays, scalars and generators."""

from __future__ import annotations

import sys
from typing import Any

from rlint.harness.compare.random_streams import legacy_numpy_stream, numpy_stream
from rlint.harness.compare.shared_memory import Extent
from rlint.harness.compare.snapshot import Node, ObjectFact, Walker
from rlint.harness.compare.snapshot_objects import attributes_of
from rlint.harness.compare.values import NumpyData, TextData


def fill(node: Node, value: Any, walker: Walker) -> bool:
    """Complete the node of a numpy object; return False for others."""
    numpy: Any = sys.modules["numpy"]
    if isinstance(value, numpy.ndarray):
        node.mutable = True
        _array(node, value, walker)
    elif isinstance(value, numpy.generic):
        _contents(node, numpy.array(value), walker)
    elif isinstance(value, numpy.dtype):
        node.data = TextData(str(value))
    elif isinstance(value, (numpy.random.Generator, numpy.random.BitGenerator)):
        node.mutable, node.kind, node.data = True, "random stream", numpy_stream(value)
    elif isinstance(value, numpy.random.RandomState):
        node.mutable, node.kind, node.data = True, "random stream", legacy_numpy_stream(value)
    elif isinstance(value, numpy.ufunc):
        node.data = TextData(value.__name__)
    else:
        return False
    return True


def _array(node: Node, value: Any, walker: Walker) -> None:
    numpy: Any = sys.modules["numpy"]
    shown = numpy.asarray(value)  # bypasses overrides in subclasses
    node.facts = [
        ObjectFact("dtype", ".dtype", str(shown.dtype)),
        ObjectFact("shape", ".shape", shown.shape),
        ObjectFact("strides", ".strides", visible_strides(shown.shape, shown.strides)),
        ObjectFact("attribute", ".flags.writeable", bool(shown.flags.writeable)),
    ]
    if shown.size:
        address = shown.__array_interface__["data"][0]
        node.extent = Extent("host", address, shown.itemsize, shown.shape, shown.strides)
    _contents(node, shown, walker)
    if isinstance(value, numpy.ma.MaskedArray):
        node.parts[".mask"] = walker.child(numpy.ma.getmaskarray(value))
        node.parts[".fill_value"] = walker.child(value.fill_value)
    elif type(value) is not numpy.ndarray:
        for name, attribute in (attributes_of(value) or {}).items():
            node.parts[f".{name}"] = walker.child(attribute)


def _contents(node: Node, array: Any, walker: Walker) -> None:
    if array.dtype.names:
        for name in array.dtype.names:  # between fields there may be padding
            node.parts[f"[{name!r}]"] = walker.child(array[name])
    elif array.dtype.hasobject:
        node.items = walker.children(array.reshape(-1).tolist())
    else:
        node.data = NumpyData(array.copy(order="C"))


def visible_strides(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int | None, ...]:
    """Return the strides on which some element depends: None for dimensions of size 1."""
    empty = 0 in shape
    return tuple(
        None if empty or length <= 1 else stride for length, stride in zip(shape, strides, strict=True)
    )
