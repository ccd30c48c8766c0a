"""Steps with few reads, which cost little together."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import AnyLoop, Driver, ProgramScale, SemanticModel, descendants, trip_count, vocabulary
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead

_FEW = 4
_CHEAP = "a few reads once per step: they only add up where there are many, or in a loop"
_SOME = 12
_LONG_STEP = "a few reads beside the gradient step of a large network, which takes far longer"
_PARTS = "one read for each of a few parts, once per step"


def why_cheap(reads: Sequence[HostRead], model: SemanticModel) -> str | None:
    """Return why these reads of one step cost little together: there are few, and none is repeated. Each
    takes a call and a wait for kernels that the step waits for in any case. A long gradient step may have
    more of them.
    """
    is_long = all(_is_in_long_step(read.node, model) for read in reads)
    if len(reads) > (_SOME if is_long else _FEW):
        return None
    for read in reads:
        loops = model.frequency.loops(read.node)
        if loops and loops[0] is not model.frequency.driving_loop(read.node):
            return None  # several times per step
    return _CHEAP if len(reads) <= _FEW else _LONG_STEP


def _is_in_long_step(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a node runs with gradient steps, in a program of networks for images or sequences."""
    if model.program.scale() is not ProgramScale.LARGE:
        return False
    cadence = model.frequency.cadence(node)
    return cadence is not None and Driver.GRADIENT_STEP in cadence.drivers


def why_few_parts(loop: AnyLoop, model: SemanticModel) -> str | None:
    """Return why a read in each iteration of a loop costs little: the loop has a few iterations (the agents
    of a team, the entries of a dict), and no other loop repeats it in a step.
    """
    around = model.frequency.loops(loop)
    if around and around[0] is not model.frequency.driving_loop(loop):
        return None
    count = trip_count.passes(loop, model)
    if count is not None:
        return _PARTS if count <= _FEW else None
    if not (trip_count.over_components(loop, model) or trip_count.collects_components(loop, model)):
        return None
    header = loop.iter if isinstance(loop, (ast.For, ast.AsyncFor)) else loop
    called = (node.attr for node in descendants(header) if isinstance(node, ast.Attribute))
    return None if any(name in vocabulary.PER_LAYER for name in called) else _PARTS
