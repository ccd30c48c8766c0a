"""Which reads are reported together, and at which of them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import AnyLoop, SemanticModel
from rlint.rules.transfers._shared.element_reads import read_in
from rlint.rules.transfers._shared.there_and_back import ways_back
from rlint.rules.transfers.rl202_host_round_trip import round_trips
from rlint.rules.transfers.rl202_host_round_trip.graph_copies import differentiated_copies
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead, reads_below
from rlint.rules.transfers.rl202_host_round_trip.read_together import element_loop
from rlint.rules.transfers.rl202_host_round_trip.waiting_reads import is_hot


def reported_together(step: Sequence[HostRead], model: SemanticModel) -> list[HostRead]:
    """Return the reads of a step that one finding names."""
    own = (read for read in step if not model.once(is_others, read))
    return [read for read in own if read.method != "each" and model.once(element_loop, read) is None]


def unguarded_first(group: Sequence[HostRead], model: SemanticModel) -> list[HostRead]:
    """Return the reads of a step with one that the fewest conditions guard at the front, so that a finding
    does not name one of `if writer is not None` where others always run.
    """
    first = min(group, key=lambda read: len(model.frequency.conditions(read.node)))
    return [first, *(read for read in group if read is not first)]


def is_others(read: HostRead, model: SemanticModel) -> bool:
    """Whether a read is the first half of a round trip, a copy with its graph, or covered by
    item-per-element.
    """
    if _by_parts(read) and model.once(read_in, read.node) is not None:
        return True
    if isinstance(read.node, ast.Call):
        function = model.function(read.node)
        if read.method == "cpu" and function is not None:
            return read.node in model.once(ways_back, function) or read.node in model.once(
                differentiated_copies, function
            )
    parent = model.parent(read.node)
    return isinstance(parent, ast.Call) and round_trips.round_trip(parent, model) is not None


def _by_parts(read: HostRead) -> bool:
    """Whether item-per-element looks at this form of a read."""
    return isinstance(read.node, (ast.Call, ast.Name)) or read.method == "if"


def first_in(loop: AnyLoop, model: SemanticModel) -> ast.expr | None:
    """Return the first read of elements in a loop, at which all of them are reported."""
    found = [
        read.node
        for read in reads_below(loop, model)
        if is_hot(read, model) and element_loop(read, model) is loop and not model.once(is_others, read)
    ]
    return min(found, key=model.source.span, default=None)
