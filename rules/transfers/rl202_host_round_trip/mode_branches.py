"""Branches that run in each iteration of a run, or in none, as a mode or setting decides."""

from __future__ import annotations

import ast

from rlint.rule import Function, Guard, GuardKind, Heat, SemanticModel, last_name, regex
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead

_FOR_REPORTS = regex(r"skip|stat|metric|info|diag|debug|first|last|once|need|should|sync|update|mps")
"""Settings that change during a run, or whose branch serves reports."""
_WRITES_LOG = regex(r"log|verbose|tensorboard|tb(oard)?$|wandb|track|plot|print|record|report|save")
_MODES = (GuardKind.OTHER, GuardKind.SWITCH)


def branch_of(read: HostRead, model: SemanticModel) -> tuple[Guard, ...] | None:
    """Return the conditions, within the innermost loop around a read or in its function, that decide whether
    it runs in each iteration: none if it always does. None if other conditions than modes and settings do.
    """
    if model.frequency.runs_each_pass(read.node, innermost=True):
        return ()
    loops = model.frequency.loops(read.node)
    innermost = model.analysis.loops.index[loops[0]] if loops else -1
    guards = [guard for guard in model.frequency.conditions(read.node) if guard.loop == innermost]
    found = tuple(guard for guard in guards if not guard.is_usual)
    if not found or any(guard.kind not in _MODES or guard.cap is not Heat.HOT for guard in found):
        return None
    tests = model.once(_tests_by_line, model.function(read.node))
    if any(not _is_setting(tests.get(guard.line)) for guard in found if guard.kind is GuardKind.SWITCH):
        return None
    return found if all(_is_mode(tests.get(guard.line)) for guard in found) else None


def _tests_by_line(function: Function | None, model: SemanticModel) -> dict[int, ast.expr]:
    """Return the conditions of a function's branches by their lines."""
    return {
        branch.test.lineno: branch.test
        for branch in model.syntax.of_type(ast.If)
        if model.function(branch) is function
    }


def _is_setting(test: ast.expr | None) -> bool:
    """Whether a switch is an attribute that does not turn on logs: `self.config.normalize`."""
    if isinstance(test, ast.UnaryOp):
        test = test.operand
    return isinstance(test, ast.Attribute) and not _WRITES_LOG.search(test.attr.lower())


def _is_mode(test: ast.expr | None) -> bool:
    """Whether a condition is a mode or a setting: `self.training`, `kind == "beta"`, `"costs" in info`."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_mode(operand)
        case ast.BoolOp(values=values):
            return all(map(_is_mode, values))
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return True
        case ast.Name() | ast.Attribute():
            return not _FOR_REPORTS.search((last_name(test) or "").lower())
        case ast.Compare(left=tested, ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=str())]):
            return _is_mode(tested)
        case ast.Compare(left=ast.Constant(value=str()), ops=[ast.In() | ast.NotIn()], comparators=[_]):
            return True
    return False
