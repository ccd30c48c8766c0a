"""Work beside a read that takes far longer: loops over the rows of a batch that read the device for each of
them, and calls that wait for another program.
"""

from __future__ import annotations

import ast

from rlint.rule import (
    COMPREHENSIONS,
    LOOPS,
    AnyLoop,
    EffectKind,
    Function,
    Loop,
    SemanticModel,
    descendants,
    only_callee,
    trip_count,
)
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead, reads_below
from rlint.rules.transfers.rl202_host_round_trip.read_together import drives
from rlint.rules.transfers.rl202_host_round_trip.waiting_reads import waits

_FEW = 4
_NUMBERS = frozenset({"item", "float", "int", "bool", "if"})
_STARTS_AND_WAITS = EffectKind.WAITS | EffectKind.OTHER
"""Starts a thread or another program, and waits for it."""
_RUNS_PROGRAM = {f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output")}
_BRANCHES = (ast.If, ast.IfExp, ast.Match, ast.ExceptHandler)
_WAITS_LONGER = "each iteration waits for another program or thread, which takes far longer than the read"


def why_below_loop(node: ast.AST, model: SemanticModel) -> str | None:
    """Return why a read costs little: the same function reads the device for each row of a batch, in a loop
    that runs whenever the read does, or calls a function of this file that does.
    """
    function = model.function(node)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    around, above = model.frequency.loops(node), set(model.ancestors(node))
    for place, loop in model.once(_row_loops, function):
        if loop in around or model.frequency.loops(place) != around:
            continue
        if all(each in above for each in model.ancestors(place) if isinstance(each, _BRANCHES)):
            line = model.span_of(loop)[0].line
            return f"beside the loop in line {line}, which reads the device in each iteration"
    return None


def why_outweighed(loop: AnyLoop, model: SemanticModel) -> str | None:
    """Return why a read in each iteration of a loop costs little: the iteration also waits for another
    program, such as the engine of a game.
    """
    if isinstance(loop, COMPREHENSIONS):
        return None
    calls = (node for statement in loop.body for node in descendants(statement) if isinstance(node, ast.Call))
    if any(
        model.syntax.block(model.syntax.statement(call))[0] is loop.body and _waits_for_program(call, model)
        for call in calls
    ):
        return _WAITS_LONGER
    return None


def _waits_for_program(call: ast.Call, model: SemanticModel) -> bool:
    kind = model.effects.call_effect(call).kind
    if kind & EffectKind.COMMUNICATES or not kind & EffectKind.OTHER:
        return False
    return kind & _STARTS_AND_WAITS == _STARTS_AND_WAITS or _runs_program(call, model)


def _runs_program(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call, or the function of this file that it calls, runs another program and waits for it."""
    called = only_callee(call, model)
    own = descendants(called) if called is not None else (call,)
    return any(
        (model.names.qualified(node.func) or "") in _RUNS_PROGRAM
        for node in own
        if isinstance(node, ast.Call)
    )


def _row_loops(function: Function, model: SemanticModel) -> list[tuple[ast.AST, Loop]]:
    """Return the loops over rows in a function, and those in the functions of this file that it calls, each
    with the place in the function that runs it.
    """
    found: list[tuple[ast.AST, Loop]] = [(loop, loop) for loop in model.once(_own_row_loops, function)]
    for node in descendants(function):
        if not isinstance(node, ast.Call):
            continue
        called = only_callee(node, model)
        if called is None or called is function:
            continue
        loops = model.once(_own_row_loops, called)
        found += [(node, loop) for loop in loops if not model.frequency.loops(loop)]
    return found


def _own_row_loops(function: Function, model: SemanticModel) -> list[Loop]:
    return [
        node
        for node in descendants(function)
        if isinstance(node, LOOPS) and model.function(node) is function and _is_row_loop(node, model)
    ]


def _is_row_loop(loop: Loop, model: SemanticModel) -> bool:
    """Whether a loop over more than a few items reads a number from the device in each iteration."""
    if isinstance(loop, ast.While) or drives(loop, model) or trip_count.over_components(loop, model):
        return False
    count = trip_count.passes(loop, model)
    if count is not None and count <= _FEW:
        return False
    return any(_is_read_for_each(read, loop, model) for read in reads_below(loop, model))


def _is_read_for_each(read: HostRead, loop: Loop, model: SemanticModel) -> bool:
    return read.method in _NUMBERS and model.frequency.loops(read.node)[:1] == [loop] and waits(read, model)
