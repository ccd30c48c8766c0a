"""Tensors that one function passes, one by one, to the same parameter of another function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlint.findings import Heat
from rlint.models.value_type import Device, Type, TypeTag

if TYPE_CHECKING:
    from rlint.semantics.frequency.callers import IncomingCall
    from rlint.semantics.frequency.heat import HeatMap
    from rlint.semantics.interprocedural.summary import FunctionSummary


def tensors_passed(heat: HeatMap, function: FunctionSummary, parameter: str) -> int:
    """Return the largest number of calls in hot code that one caller makes in the same iteration of a loop,
    under the same conditions, with a tensor for a parameter: a logger that is called for each loss.
    """
    if parameter not in function.call_parameters:
        return 0
    places = frozenset({parameter, str(function.call_parameters.index(parameter))})
    calls = Counter(
        (call.edge.caller.path, call.edge.site.loop, call.edge.site.guards)
        for call in heat.callers(function)
        if call.level is Heat.HOT and any(map(_is_device_tensor, _passed(call, places, heat)))
    )
    return max(calls.values(), default=0)


def _passed(call: IncomingCall, places: frozenset[str], heat: HeatMap) -> Iterator[Type]:
    """Yield the type of the argument that a call passes for a parameter."""
    for place, kind in call.edge.site.arguments:
        if place in places:
            path = kind.of if kind.tag is TypeTag.UNKNOWN else ""
            yield heat.index.resolve(path, call.edge.caller.module) if path else kind


def _is_device_tensor(kind: Type) -> bool:
    return kind.tag is TypeTag.TENSOR and kind.device is not Device.HOST
