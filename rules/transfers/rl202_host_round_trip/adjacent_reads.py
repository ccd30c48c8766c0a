"""Reads that follow one another once per step: all but the first cost little."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import SemanticModel, descendants, is_in
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead

_FEW = 4
_ADJACENT = (
    "the reads follow one another once per step: the first one waits for the device, and the others only "
    "cost a call each"
)


def why_cheap(group: Sequence[HostRead], model: SemanticModel) -> str | None:
    """Return why the reads of a group cost little together: a few of them, once per step, between which
    nothing is queued on the device that the others would have to wait for.
    """
    first, last = group[0].node, group[-1].node
    function = model.function(first)
    loops = model.frequency.loops(first)
    if (
        len(group) > _FEW
        or function is None
        or any(model.function(read.node) is not function for read in group)
    ):
        return None
    if loops and loops[0] is not model.frequency.driving_loop(first):
        return None  # several times per step
    start, end = model.source.span(first)[1], model.source.span(last)[0]
    for node in descendants(function):
        if not isinstance(node, ast.Call) or not start <= model.source.span(node)[0] < end:
            continue
        if any(is_in(node, read.node) for read in group):
            continue
        if model.nn.network_run(node) is not None or model.nn.takes_gradient_steps(node):
            return None
    return _ADJACENT
