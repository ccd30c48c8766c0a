"""Single reads of a gradient step that only statistics need."""

from __future__ import annotations

import ast

from rlint.rule import Driver, GuardKind, SemanticModel, Use, UseKind
from rlint.rules.transfers._shared.in_steps import is_repeated
from rlint.rules.transfers.rl202_host_round_trip.few_reads import STATISTIC, last_names_in
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead
from rlint.rules.transfers.rl202_host_round_trip.purposes.kept_reads import collected_by
from rlint.rules.transfers.rl202_host_round_trip.read_together import (
    is_logged,
    only_read_of_pass,
    reads_of_parts,
)
from rlint.rules.transfers.rl202_host_round_trip.wording import learns

_NUMBERS = frozenset({"item", "float"})
_ARRAYS = frozenset({"numpy", "cpu"})
_KEEPS = (ast.BinOp, ast.UnaryOp, ast.Dict, ast.List, ast.Tuple, ast.keyword)
_FOLLOWED = frozenset({UseKind.ELEMENT, UseKind.ITEM, UseKind.OPERAND})
_DECIDES = frozenset({UseKind.COMPARED, UseKind.INDEX, UseKind.TESTED})
_OF_NUMBERS = frozenset({"builtins.abs", "builtins.float", "builtins.round"})


def is_put_off_in_update(read: HostRead, model: SemanticModel) -> bool:
    """Whether the only read of a gradient step is of a number that is stored, logged or returned. Where the
    same iteration steps an environment, it reads the action, which synchronises with the device anyway.
    """
    cadence = model.frequency.cadence(read.node)
    if cadence is None or Driver.GRADIENT_STEP not in cadence.drivers or is_repeated(read.node, model):
        return False
    if Driver.ENVIRONMENT_STEP in cadence.drivers | cadence.nested or Driver.GRADIENT_STEP in cadence.nested:
        return False
    if any(guard.kind is GuardKind.INTERVAL for guard in model.frequency.guards(read.node)):
        return False
    if not _is_of_learning(read, model) or not _is_put_off(read, model):
        return False
    return only_read_of_pass(read, model) and not reads_of_parts(read, model)


def _is_put_off(read: HostRead, model: SemanticModel) -> bool:
    """Whether a number is only stored, logged, collected or returned, or an array only logged or collected,
    and nothing in this file decides by it.
    """
    if read.method not in _NUMBERS | _ARRAYS or not _is_whole(read.node, model):
        return False
    statement = model.syntax.statement(read.node)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name) as target]) if read.method in _NUMBERS:
            scope = model.names.scope(target).lookup(name)
            uses = [
                use
                for use in (model.names.reads(name, scope) if scope is not None else ())
                if any(bound.statement is statement for bound in model.dataflow.definitions(use))
            ]
            is_kept = bool(uses) and all(
                _keeps(model.syntax.statement(use)) and _is_whole(use, model) for use in uses
            )
        case _:
            is_kept = is_logged(statement) or (read.method in _NUMBERS and _keeps(statement))
    reached = model.dataflow.uses_across_functions(read.node, lambda use: use.kind in _FOLLOWED)
    return is_kept and not any(_decides(use, model) for use in reached)


def _decides(use: Use, model: SemanticModel) -> bool:
    """Whether code decides by a value, or adds it to a sum that the loop of a caller uses otherwise."""
    match use.at:
        case ast.AugAssign(target=ast.Name()):
            return bool(model.frequency.loops(use.at)) and collected_by(use, model) is None
    return use.kind in _DECIDES


def _is_of_learning(read: HostRead, model: SemanticModel) -> bool:
    """Whether a value is a loss or another statistic of the step, not a number that other code asks for."""
    is_statistic = any(map(STATISTIC.search, last_names_in(read.tensor)))
    return is_statistic or bool(learns(read.node, model))


def _keeps(statement: ast.stmt) -> bool:
    """Whether a statement only stores, adds up, logs, collects or returns values."""
    match statement:
        case ast.Return() | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
        case ast.AugAssign(target=ast.Attribute() | ast.Subscript()):
            return True
    logged: bool = is_logged(statement)
    return logged


def _is_whole(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a statement gets a value as it is, in a container or after arithmetic: not as an index, and not
    as the argument of another call.
    """
    for around in model.ancestors(value):
        if isinstance(around, ast.stmt) or model.parent(around).__class__ is ast.Expr:
            return True
        if isinstance(around, ast.Call) and model.names.qualified(around.func) in _OF_NUMBERS:
            continue
        if not isinstance(around, _KEEPS):
            return False
    return False
