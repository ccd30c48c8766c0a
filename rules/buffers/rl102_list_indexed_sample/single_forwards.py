"""Loops beside a sampled batch that run a network for each of its items, which takes far longer."""

from __future__ import annotations

import ast

from rlint.rule import (
    COMPREHENSIONS,
    FUNCTIONS,
    LOOPS,
    Function,
    SemanticModel,
    calls_in_file,
    descendants,
    is_in,
    only_callee,
    trip_count,
)


def why_below_forwards(node: ast.AST, model: SemanticModel) -> str | None:
    """Return why picking a batch costs little: each function that calls this one, or this one itself, also
    runs a network for one item after the other, in the same step.
    """
    function = model.function(node)
    if not isinstance(function, FUNCTIONS):
        return None
    own = _line_of_loop(node, model)
    lines = [own] if own else [_line_of_loop(call, model) for call in calls_in_file(function, model)]
    if not lines or not all(lines):
        return None
    return f"beside the loop in line {lines[0]}, which runs a network for each item"


def _line_of_loop(place: ast.AST, model: SemanticModel) -> int:
    """Return the line of a loop that runs whenever a place does; 0 if there is none."""
    function = model.function(place)
    if not isinstance(function, FUNCTIONS):
        return 0
    around = [loop for loop in model.frequency.loops(place) if loop is not place]
    for loop in model.once(_loops_of_forwards, function):
        outer = [each for each in model.frequency.loops(loop) if each is not loop]
        if not is_in(place, loop) and outer == around:
            return model.span_of(loop)[0].line
    return 0


def _loops_of_forwards(function: Function, model: SemanticModel) -> list[ast.AST]:
    return [
        loop
        for loop in descendants(function)
        if isinstance(loop, (*LOOPS, *COMPREHENSIONS))
        and not isinstance(loop, ast.While)
        and not trip_count.over_components(loop, model)
        and not trip_count.collects_components(loop, model)
        and any(isinstance(each, ast.Call) and _runs_network(each, loop, model) for each in descendants(loop))
    ]


def _runs_network(call: ast.Call, loop: ast.AST, model: SemanticModel) -> bool:
    """Whether a call runs a network, or a function of this file that does, on an item of a loop."""
    loops = model.frequency.loops(call)
    if not loops or loops[0] is not loop or not any(_is_item(given, loop, model) for given in call.args):
        return False
    if model.nn.network_run(call) is not None:
        return True
    called = only_callee(call, model)
    return called is not None and any(
        isinstance(each, ast.Call) and model.nn.network_run(each) is not None for each in descendants(called)
    )


def _is_item(given: ast.expr, loop: ast.AST, model: SemanticModel) -> bool:
    """Whether an argument is a loop variable, or what it selects: `states[index]`."""
    index = given.slice if isinstance(given, ast.Subscript) else given
    return isinstance(index, ast.Name) and any(
        is_in(binding.node, loop) for binding in model.dataflow.definitions(index)
    )
