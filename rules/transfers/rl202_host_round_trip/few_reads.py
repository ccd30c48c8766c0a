"""Steps with few reads, which cost little together."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import AnyLoop, ProgramScale, SemanticModel, descendants, trip_count, vocabulary
from rlint.rules.transfers._shared.in_steps import is_in_gradient_steps, is_repeated
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
    if any(is_repeated(read.node, model) for read in reads):
        return None
    return _CHEAP if len(reads) <= _FEW else _LONG_STEP


def _is_in_long_step(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a node runs with gradient steps, in a program of networks for images or sequences."""
    return model.program.scale() is ProgramScale.LARGE and is_in_gradient_steps(node, model)


def why_few_parts(loop: AnyLoop, model: SemanticModel) -> str | None:
    """Return why a read in each iteration of a loop costs little: the loop has a few iterations (the agents
    of a team, the entries of a dict), and no other loop repeats it in a step.
    """
    if is_repeated(loop, model):
        return None
    count = trip_count.passes(loop, model)
    if count is not None:
        return _PARTS if count <= _FEW else None
    if not (trip_count.over_components(loop, model) or trip_count.collects_components(loop, model)):
        return None
    header = loop.iter if isinstance(loop, (ast.For, ast.AsyncFor)) else loop
    called = (node.attr for node in descendants(header) if isinstance(node, ast.Attribute))
    return None if any(name in vocabulary.PER_LAYER for name in called) else _PARTS
