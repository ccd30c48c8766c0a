"""Tensors that one function passes, one by one, to the same parameter of another function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlint.findings import Heat
from rlint.frozen import frozen
from rlint.models.value_type import Device, Type, TypeTag

if TYPE_CHECKING:
    from rlint.semantics.frequency.callers import IncomingCall
    from rlint.semantics.frequency.heat import HeatMap
    from rlint.semantics.interprocedural.summary import FunctionSummary


@frozen
class PassedTensors:
    """What calls pass for a parameter."""

    together: int = 0
    """The largest number of calls in hot code that one caller makes in the same iteration of a loop, under
    the same conditions, with a tensor that may be on a device: a logger that is called for each loss.
    """
    on_host: bool = False
    """Whether all calls pass tensors in host memory, or lists of them."""


def tensors_passed(heat: HeatMap, function: FunctionSummary, parameter: str) -> PassedTensors:
    """Return what the calls of a function pass for a parameter."""
    if parameter not in function.call_parameters:
        return PassedTensors()
    places = frozenset({parameter, str(function.call_parameters.index(parameter))})
    passed = [(call, [*_passed(call, places, heat)]) for call in heat.callers(function)]
    calls = Counter(
        (call.edge.caller.path, call.edge.site.loop, call.edge.site.guards)
        for call, kinds in passed
        if call.level is Heat.HOT and any(map(_is_device_tensor, kinds))
    )
    on_host = bool(passed) and all(kinds and all(map(_is_on_host, kinds)) for _, kinds in passed)
    return PassedTensors(max(calls.values(), default=0), on_host)


def _is_on_host(kind: Type) -> bool:
    held = kind.item if kind.tag in (TypeTag.LIST, TypeTag.TUPLE) and kind.item is not None else kind
    return held.tag is TypeTag.TENSOR and held.device is Device.HOST


def _passed(call: IncomingCall, places: frozenset[str], heat: HeatMap) -> Iterator[Type]:
    """Yield the type of the argument that a call passes for a parameter."""
    for place, kind in call.edge.site.arguments:
        if place in places:
            path = kind.of if kind.tag is TypeTag.UNKNOWN else ""
            yield heat.index.resolve(path, call.edge.caller.module) if path else kind


def _is_device_tensor(kind: Type) -> bool:
    return kind.tag is TypeTag.TENSOR and kind.device is not Device.HOST
