"""Conditions that read the device: those in loops of inner work, and those of one `elif` chain."""

from __future__ import annotations

import ast

from rlint.rule import FUNCTIONS, AnyLoop, Driver, Loop, SemanticModel, descendants, is_in, last_name
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead, reads_at
from rlint.rules.transfers.rl202_host_round_trip.mode_branches import branch_of
from rlint.rules.transfers.rl202_host_round_trip.waiting_reads import is_hot

_ENDS = (ast.Break, ast.Return)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_NUMBERS = frozenset({"item", "float", "int", "bool"})
_INNER_WORK = frozenset({Driver.GENERATION})


def loop_ended_by(read: HostRead, model: SemanticModel) -> Loop | None:
    """Return the loop that a condition on a device tensor ends (`if residual < tolerance: break`), or on a
    number read from one (`while misses > 0: … misses = outside.sum().item()`), if its iterations are not
    themselves the steps of training: an iterative solver, rejection sampling, or the tokens of a sequence.
    """
    statement = model.syntax.statement(read.node)
    if read.method == "if" and isinstance(statement, ast.While):
        ends = _changes_in(read.tensor, statement, model) and not is_for_host(statement, model)
        return statement if ends else None
    loop = _inner_loop(read, model)
    if loop is None:
        return None
    if read.method == "if":
        return loop if statement is loop or _ends(statement, loop, model) else None
    return loop if read.method in _NUMBERS and _is_tested(statement, loop, model) else None


def choice_in_loop(read: HostRead, model: SemanticModel) -> Loop | None:
    """Return the loop over inner work in which a condition on a device tensor only decides what a variable
    holds (`if values[0] > best: best = values[0]`): operations on tensors could select it.
    """
    statement = model.syntax.statement(read.node)
    if read.method != "if" or not isinstance(statement, ast.If) or statement.orelse:
        return None
    match statement.test:
        case ast.Compare(left=left, ops=[_], comparators=[right]):
            sides = {ast.dump(left): right, ast.dump(right): left}
        case _:
            return None
    keeps = False
    for each in statement.body:
        if not isinstance(each, ast.Assign):
            return None
        other = sides.get(ast.dump(each.value))
        names = [target.id for target in each.targets if isinstance(target, ast.Name)]
        keeps = keeps or (isinstance(other, ast.Name) and other.id in names)
    if not keeps:
        return None
    return _inner_loop(read, model)


def _inner_loop(read: HostRead, model: SemanticModel) -> Loop | None:
    """Return the innermost loop around a read, if its iterations are no steps of training and compute what is
    read.
    """
    loops = model.frequency.loops(read.node)
    if not loops or not isinstance(loops[0], (ast.For, ast.While)):
        return None
    loop = loops[0]
    return None if _is_step(loop, read, model) or not _changes_in(read.tensor, loop, model) else loop


def _is_tested(statement: ast.stmt, loop: Loop, model: SemanticModel) -> bool:
    """Whether the loop ends as the value decides that a statement assigns."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            pass
        case _:
            return False
    scope = model.names.scope(statement).lookup(name)
    if scope is None:
        return False
    tests = [loop.test] if isinstance(loop, ast.While) else []
    for use in model.names.reads(name, scope):
        user = model.syntax.statement(use)
        is_end = user is loop and any(is_in(use, test) for test in tests)
        if is_end or (_ends(user, loop, model) and isinstance(user, ast.If) and is_in(use, user.test)):
            return True
    return False


def _ends(statement: ast.stmt, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether a statement is a condition of a loop under which the loop ends, or unless it holds."""
    if not isinstance(statement, ast.If):
        return False
    last: ast.stmt = statement
    while isinstance(last, ast.If) and last.orelse:
        last = last.orelse[-1]
    if not isinstance(statement.body[-1], _ENDS) and not isinstance(last, _ENDS):
        return False
    loops = (part for part in model.ancestors(statement) if isinstance(part, _LOOPS))
    return next(loops, None) is loop


def _is_step(loop: Loop, read: HostRead, model: SemanticModel) -> bool:
    """Whether an iteration of a loop is a step of training, which may read one value."""
    beat = model.frequency.cadence(read.node)
    summary, index = model.symbols.function_at(loop), model.analysis.loops.index.get(loop)
    if summary is None or index is None:
        return True
    if summary.loops[index].drivers - _INNER_WORK:
        return True
    is_driven = model.frequency.driving_loop(read.node) is loop
    return is_driven and (beat is None or bool((beat.drivers | beat.nested) - _INNER_WORK))


def _changes_in(tensor: ast.expr, loop: Loop, model: SemanticModel) -> bool:
    """Whether a tensor is computed in a loop."""
    return any(
        is_in(binding.node, loop) and binding.statement is not loop
        for name in descendants(tensor)
        if isinstance(name, ast.Name)
        for binding in model.dataflow.definitions(name)
    )


def tests_of_chain(read: HostRead, model: SemanticModel) -> list[HostRead]:
    """Return the reads of the conditions of an `if` and its `elif`, in order, if this is one of them."""
    statement = model.syntax.statement(read.node)
    if read.method != "if" or not isinstance(statement, ast.If):
        return []
    first = statement
    while True:
        parent = model.parent(first)
        if not isinstance(parent, ast.If) or parent.orelse != [first]:
            break
        first = parent
    if not first.orelse or branch_of(HostRead(first.test, first.test, "if"), model) is None:
        return []
    found: list[HostRead] = []
    tests = 0
    test: ast.stmt | None = first
    while isinstance(test, ast.If):
        if model.types.tests_device(test.test):
            return []  # one of the branches runs without an accelerator
        reads = [other for other in reads_at(test, model) if is_hot(other, model)]
        found, tests = found + reads, tests + bool(reads)
        test = test.orelse[0] if len(test.orelse) == 1 else None
    return found if tests > 1 else []


def is_for_host(test: ast.stmt, model: SemanticModel) -> bool:
    """Whether a condition runs only as another one that tests for a device decides: `if is_cuda: … elif`."""
    child: ast.AST = test
    for around in model.ancestors(test):
        if isinstance(around, ast.If) and child is not around.test and _tests_device(around.test, model):
            return True
        if isinstance(around, FUNCTIONS):
            return False
        child = around
    return False


def _tests_device(test: ast.expr, model: SemanticModel) -> bool:
    return model.types.tests_device(test) or any(
        "cuda" in (last_name(node) or "") for node in descendants(test)
    )
