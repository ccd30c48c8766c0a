"""Conditions that only check a tensor of the device, and on which nothing depends unless it is broken."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, descendants, is_in, last_name, vocabulary
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead, tested

_STOPS = frozenset({"breakpoint", "exit", "print", "set_trace"})


def only_checks(read: HostRead, model: SemanticModel) -> bool:
    """Whether a read only serves a check: an assertion, a condition that only raises or reports, or one that
    asks whether numbers are finite.
    """
    statement = model.syntax.statement(read.node)
    if only_raises(statement):
        return not _begins_as_constant(read.tensor, model)
    if not isinstance(statement, ast.If) or not is_in(read.node, statement.test):
        return False
    if (
        read.tensor is not read.node
        and isinstance(read.node, ast.Call)
        and tested(read.node, model) is read.tensor
    ):
        return True
    return any(last_name(node) in vocabulary.TESTS_FINITE for node in descendants(statement.test))


def _begins_as_constant(tested: ast.expr, model: SemanticModel) -> bool:
    """Whether a variable is a flag that may still have its first value: `saw_last = False`."""
    if not isinstance(tested, ast.Name):
        return False
    return any(isinstance(binding.value, ast.Constant) for binding in model.dataflow.definitions(tested))


def only_raises(statement: ast.stmt) -> bool:
    """Whether a statement only checks a value, so that it could be checked later: `assert`, `if x.isnan():
    raise …`, also with reports before.
    """
    match statement:
        case ast.Assert():
            return True
        case ast.If(body=[*reports, ast.Raise()], orelse=[]):
            return all(map(_reports, reports))
        case ast.If(body=reports, orelse=[]):
            return all(map(_reports, reports))
    return False


def _reports(statement: ast.stmt) -> bool:
    """Whether a statement only writes a message or stops the program."""
    match statement:
        case ast.Expr(value=ast.Call(func=func)):
            name = last_name(func)
            return name in vocabulary.LOGS or name in _STOPS
    return isinstance(statement, (ast.Import, ast.Pass))
