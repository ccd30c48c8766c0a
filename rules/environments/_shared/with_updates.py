"""Lines that run with each gradient step, whatever conditions decide when one is taken."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    FUNCTIONS,
    LOOPS,
    Driver,
    Function,
    Guard,
    GuardKind,
    SemanticModel,
    descendants,
    last_name,
    regex,
    roles,
)
from rlint.rules.environments._shared.each_pass import SELDOM

_STEPS = frozenset({"backward", "manual_backward"})
_LEARNS = roles.LEARNS | {"optimize", "optimise", "train", "train_model", "update"}
_OPTIMIZER = regex(r"optim|^opt|_opt$|scaler")
_SELDOM = SELDOM - {GuardKind.INTERVAL}
_OF_UPDATES = regex(r"(train|updat|learn|optim|grad|policy)\w*(freq|every|interval|period|steps?)")
_SHORT = 100
"""Writing once in so many environment steps costs little."""


def runs_with_update(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a node runs with each gradient step of a loop that takes one at a time: all conditions between
    the loop and the node govern the gradient step as well (`if step > warmup:`, `if step % 4 == 0:`), or only
    test whether one has been taken (`if loss is not None:`).
    """
    beat = model.frequency.cadence(node)
    if beat is None or Driver.GRADIENT_STEP not in beat.drivers or Driver.GRADIENT_STEP in beat.nested:
        return False
    if any(guard.kind in _SELDOM or _is_long_interval(guard) for guard in beat.guards):
        return False
    results = model.once(_results_of_updates, model.function(node))
    guards = [
        guard for guard in beat.guards if guard not in beat.updating and not _tests_result(guard, results)
    ]
    if all(guard.kind is GuardKind.RANK for guard in guards):
        return True
    lines = {guard.line for guard in guards}  # callers may have settled the guards themselves
    own = [guard for guard in model.frequency.conditions(node) if guard.line in lines]
    for block in _blocks_around(node, model):
        if any(takes_gradient_step(call) for statement in block for call in _calls_of_each_run(statement)):
            return not any(guard.line >= block[0].lineno for guard in own if guard.kind is not GuardKind.RANK)
    return False


def _blocks_around(node: ast.AST, model: SemanticModel) -> Iterator[list[ast.stmt]]:
    """Yield the blocks around a node, innermost first, up to the loop around it or its function."""
    child: ast.AST = model.syntax.statement(node)
    while isinstance(child, ast.stmt) and not isinstance(child, (*LOOPS, *FUNCTIONS, ast.ClassDef)):
        yield model.syntax.block(child)[0]
        parent = model.parent(child)
        while parent is not None and not isinstance(parent, (ast.stmt, ast.Module)):
            parent = model.parent(parent)
        if parent is None:
            return
        child = parent


def _calls_of_each_run(statement: ast.stmt) -> Iterator[ast.Call]:
    """Yield the calls that a statement makes whenever it runs."""
    match statement:
        case ast.With(body=body) | ast.AsyncWith(body=body):
            for part in body:
                yield from _calls_of_each_run(part)
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Expr() | ast.Return():
            for node in descendants(statement):
                if isinstance(node, ast.Call):
                    yield node


def takes_gradient_step(call: ast.Call) -> bool:
    """Whether a call takes a gradient step, judging by its name and its receiver's."""
    match call.func:
        case ast.Attribute(value=owner, attr=name):
            if name == "step":
                return bool(_OPTIMIZER.search((last_name(owner) or "").lower()))
        case ast.Name(id=name):
            pass
        case _:
            return False
    return name in _STEPS or name.strip("_") in _LEARNS


def _is_long_interval(guard: Guard) -> bool:
    """Whether an interval may be long: one of unknown length, unless its name says that it is that of the
    updates.
    """
    if guard.kind is not GuardKind.INTERVAL:
        return False
    if guard.period is not None:
        return guard.period >= _SHORT
    text = guard.text.lower()
    return not _OF_UPDATES.search(text.partition("%")[2] or text)  # its name, not that of the counter


def _tests_result(guard: Guard, results: frozenset[str]) -> bool:
    """Whether a condition only tests if there is a result of an update: `if loss is not None:`."""
    return guard.kind is GuardKind.PRESENT and not results.isdisjoint(guard.text.replace(".", " ").split())


def _results_of_updates(function: Function | None, model: SemanticModel) -> frozenset[str]:
    """Return the variables of a function to which it assigns results of gradient steps."""
    return frozenset(
        target.id
        for call in descendants(function or model.syntax.module)
        if isinstance(call, ast.Call) and takes_gradient_step(call)
        for target in model.names.targets(call)
        if isinstance(target, ast.Name)
    )
