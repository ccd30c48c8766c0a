"""Branches that run in each iteration of a run, or in none, as a mode or setting decides."""

from __future__ import annotations

import ast

from rlint.rule import (
    Driver,
    Function,
    Guard,
    GuardKind,
    Heat,
    SemanticModel,
    descendants,
    is_in,
    last_name,
    regex,
)
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead

_FOR_REPORTS = regex(r"skip|stat|metric|info|diag|debug|first|last|once|need|should|sync|update|mps")
"""Settings that change during a run, or whose branch serves reports."""
_RARELY_ON = regex(r"verbose|plot|print|report|save|record|render")
"""Settings for output that long runs leave off, unless they name logs: `print_log`."""
_WHEN = regex(r"interval|every|freq|period")
"""Settings that say when output is due."""
_WRITES_LOG = regex(
    r"(^|_)(logs?|logging|logger|loggable|tensorboard|tb(oard)?|wandb|mlflow|comet|track)(_|$)"
)
"""Settings that long runs turn on to write curves."""
_MODES = (GuardKind.OTHER, GuardKind.SWITCH)
_EXITS = (*_MODES, GuardKind.INTERVAL)


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
    if found and not loops:
        function = model.function(read.node)
        returning = model.once(_exits, function)
        exits = {line for line, branch in returning.items() if not is_in(read.node, branch)}
        steps = bool(exits) and model.once(takes_step, function)
        kinds = _EXITS if steps else ()
        found = tuple(guard for guard in found if not _is_due(guard, exits, kinds))
        if not found:
            return ()
    if not found or any(guard.kind not in _MODES or guard.cap is not Heat.HOT for guard in found):
        return None
    tests = model.once(_tests_by_line, model.function(read.node))
    if any(not _is_setting(tests.get(guard.line)) for guard in found if guard.kind is GuardKind.SWITCH):
        return None
    return found if all(_is_mode(tests.get(guard.line)) for guard in found) else None


def _is_due(guard: Guard, exits: set[int], kinds: tuple[GuardKind, ...]) -> bool:
    """Whether a condition at the beginning of an update returns unless the update is due (`if step % n != 0:
    return`, `if use_cooldown: return`), so that all reads after it are in the same passes as its gradient
    step.
    """
    return guard.line in exits and guard.kind in kinds and guard.cap is Heat.HOT


def takes_step(function: Function | None, model: SemanticModel) -> bool:
    """Whether a function takes a gradient step itself, outside of its loops."""
    summary = model.symbols.function_at(function.body[0]) if function is not None else None
    return summary is not None and Driver.GRADIENT_STEP in summary.drivers


def _exits(function: Function | None, _: SemanticModel) -> dict[int, ast.If]:
    """Return the branches of a function, at its top level, that return, by the lines of their conditions."""
    return {
        branch.test.lineno: branch
        for branch in (function.body if function is not None else ())
        if isinstance(branch, ast.If) and isinstance(branch.body[-1], ast.Return) and not branch.orelse
    }


def _tests_by_line(function: Function | None, model: SemanticModel) -> dict[int, ast.expr]:
    """Return the conditions of a function's branches by their lines."""
    return {
        branch.test.lineno: branch.test
        for branch in model.syntax.of_type(ast.If)
        if model.function(branch) is function
    }


def _is_setting(test: ast.expr | None) -> bool:
    """Whether a switch is an attribute (or several) that a run likely turns on: `self.config.normalize`."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Attribute(attr=name)):
            return not _RARELY_ON.search(name.lower()) and not _names_logs(name)
        case ast.BoolOp(op=operator, values=values):
            settings = [part for part in values if not (isinstance(operator, ast.And) and is_given(part))]
            return all(map(_is_setting, settings))
        case ast.Attribute(attr=name):
            return not _WHEN.search(name.lower()) and (
                _names_logs(name) or not _RARELY_ON.search(name.lower())
            )
    return False


def is_given(test: ast.expr) -> bool:
    """Whether a condition asks whether there is a value: `targets is not None`."""
    match test:
        case ast.Compare(ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return True
    return False


def log_switch(read: HostRead, model: SemanticModel) -> ast.expr | None:
    """Return the switch around a read that turns on logs, as runs do whose curves are watched."""
    tests = model.once(_tests_by_line, model.function(read.node))
    for guard in model.once(branch_of, read) or ():
        test = tests.get(guard.line)
        if guard.kind is GuardKind.SWITCH and test is not None and _writes_log(test):
            return test
    return None


def _writes_log(test: ast.expr) -> bool:
    """Whether the name of a setting in a condition says that it turns on logs."""
    return any(
        isinstance(part, ast.Attribute) and _WRITES_LOG.search(part.attr.lower())
        for part in descendants(test)
    )


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
        case ast.Compare(left=measured, ops=[_], comparators=[ast.Constant(value=int())]):
            return _counts_dimensions(measured)
    return False


def _counts_dimensions(value: ast.expr) -> bool:
    """Whether a value is a number of dimensions, which stays the same: `x.ndim`, `x.dim()`."""
    match value:
        case ast.Attribute(attr="ndim") | ast.Call(func=ast.Attribute(attr="dim" | "ndimension"), args=[]):
            return True
        case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(attr="shape")]):
            return True
    return False


def _names_logs(name: str) -> bool:
    return _WRITES_LOG.search(name.lower()) is not None
