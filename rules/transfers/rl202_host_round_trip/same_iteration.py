"""What runs beside a few reads in the same iteration or call, and takes far longer or waits in any case."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import (
    LOOPS,
    Driver,
    Loop,
    ProgramScale,
    SemanticModel,
    TypeTag,
    descendants,
    is_in,
    trip_count,
)
from rlint.rules.transfers._shared.in_steps import is_repeated
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead, reads_at
from rlint.rules.transfers.rl202_host_round_trip.waiting_reads import waits

FEW = 4
_LEAVES = (ast.Break, ast.Continue, ast.Return)
_CHUNKED = 3
"""The number of arguments of a `range` that takes several rows in each iteration."""
_FORWARD = "a few reads beside the forward passes of each iteration: the first waits for them in any case"
_UPDATES = "it runs once beside a loop of gradient steps, which takes far longer"


def why_little_in_iteration(reads: Sequence[HostRead], model: SemanticModel) -> str | None:
    """Return why a few reads cost little together: each iteration waits for a test that the loop needs, or
    runs networks on many rows; or they run once beside a loop of gradient steps.
    """
    if len(reads) > FEW:
        return None
    read = reads[0]
    return _near_condition(read, model) or _near_forwards(read, model) or _near_updates(read, model)


def _near_condition(read: HostRead, model: SemanticModel) -> str | None:
    loops = model.frequency.loops(read.node)
    if not loops or not isinstance(loops[0], LOOPS):
        return None
    for statement in loops[0].body:
        if not isinstance(statement, ast.If) or not isinstance(statement.body[-1], _LEAVES):
            continue
        if is_in(read.node, statement):
            continue
        if any(other.method == "if" and waits(other, model) for other in reads_at(statement, model)):
            line = model.span_of(statement)[0].line
            return f"beside the condition in line {line}, for which each iteration waits in any case"
    return None


def _near_forwards(read: HostRead, model: SemanticModel) -> str | None:
    loops = model.frequency.loops(read.node)
    if not is_repeated(read.node, model) or not isinstance(loops[0], LOOPS):
        return None
    loop = loops[0]
    if trip_count.over_components(loop, model):
        return None  # the networks of several agents are small, and read one after the other
    is_long = model.program.scale() is ProgramScale.LARGE or _takes_several_rows(loop)
    calls = (node for statement in loop.body for node in descendants(statement) if isinstance(node, ast.Call))
    return _FORWARD if sum(_runs_network(call, model) for call in calls) >= (1 if is_long else 2) else None


def _takes_several_rows(loop: Loop) -> bool:
    match loop:
        case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=bounds)):
            return len(bounds) == _CHUNKED
    return False


def _runs_network(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs a network, or passes the own object, which is one, to a function that it holds."""
    if model.nn.network_run(call) is not None:
        return True
    return isinstance(call.func, ast.Name) and any(
        model.names.is_self(given) and model.types.type_of(given).tag is TypeTag.MODULE for given in call.args
    )


def _near_updates(read: HostRead, model: SemanticModel) -> str | None:
    """Return why a read for each of a few parts costs little: the same function takes gradient steps in a
    loop that counts or passes over batches, and the read is outside of it.
    """
    function, around = model.function(read.node), model.frequency.loops(read.node)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    for loop in descendants(function):
        if not isinstance(loop, (ast.For, ast.AsyncFor)) or is_in(read.node, loop):
            continue
        outer = model.frequency.loops(loop)
        inner = around[: len(around) - len(outer)]
        if model.function(loop) is not function or outer != around[len(inner) :]:
            continue
        if all(_is_short(each, model) for each in inner) and _takes_gradient_steps(loop, model):
            return _UPDATES
    return None


def _is_short(loop: ast.AST, model: SemanticModel) -> bool:
    """Whether a loop has a few iterations: over the parts of an object, or all agents of an attribute."""
    if trip_count.over_components(loop, model) or trip_count.collects_components(loop, model):
        return True
    return isinstance(loop, ast.For) and any(
        isinstance(part, ast.Attribute) and model.names.is_self(part.value) for part in descendants(loop.iter)
    )


def _takes_gradient_steps(loop: ast.For | ast.AsyncFor, model: SemanticModel) -> bool:
    counts = any(
        isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "range"
        for part in descendants(loop.iter)
    )
    few = trip_count.over_components(loop, model)
    return counts and not few and Driver.GRADIENT_STEP in model.frequency.drivers(loop, iteration=True)
