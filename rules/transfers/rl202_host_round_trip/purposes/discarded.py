"""Reads whose result some callers of the function discard."""

from __future__ import annotations

import ast

from rlint.rule import Function, FunctionSummary, SemanticModel
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead

_ALL = -1


def discarding_caller(read: HostRead, model: SemanticModel) -> FunctionSummary | None:
    """Return a caller that discards the item of a function's result which a read yields, while the function
    reads it in each call: `_, log_prob = policy.sample(states)` in an update, if `sample` also returns
    `action.cpu().numpy()` for the environment.
    """
    function, summary = model.function(read.node), model.symbols.function_at(read.node)
    place = _place_in_result(read, function, model) if function is not None else None
    if place is None or summary is None:
        return None
    if not all(guard.is_usual for guard in model.frequency.conditions(read.node)):
        return None  # the caller need not take this branch
    for call in model.dataflow.calls_of(summary):
        reads = call.site.reads
        if call.guessed and call.target.name != call.site.method:
            continue  # a table of functions may hold another for this call
        if reads is not None and (place not in reads if place != _ALL else not reads):
            caller: FunctionSummary = call.caller
            return caller
    return None


def _place_in_result(read: HostRead, function: Function, model: SemanticModel) -> int | None:
    """Return the position of a read in the tuple that a function returns, -1 if it is the whole result; None
    if the function uses it otherwise.
    """
    every = model.syntax.written.returns.get(function, ())
    returns = [each.value for each in every if each.value is not None]
    if len(returns) != 1:
        return None
    returned = returns[0]
    statement = model.syntax.statement(read.node)
    match statement:
        case ast.Return():
            nodes = [read.node]
        case ast.Assign(targets=[ast.Name(id=name)]):
            scope = model.names.scope(statement).lookup(name)
            uses = model.names.reads(name, scope) if scope is not None else []
            nodes = [
                use
                for use in uses
                if any(binding.statement is statement for binding in model.dataflow.definitions(use))
            ]
        case _:
            return None
    places = {_place(node, returned, model) for node in nodes}
    return places.pop() if len(places) == 1 else None


def _place(node: ast.AST, returned: ast.expr, model: SemanticModel) -> int | None:
    """Return the item of a returned value that contains a node."""
    child = node
    for around in (node, *model.ancestors(node)):
        if around is returned:
            if isinstance(returned, ast.Tuple) and child in returned.elts:
                return returned.elts.index(child)
            return _ALL
        if isinstance(around, ast.stmt):
            return None
        child = around
    return None
