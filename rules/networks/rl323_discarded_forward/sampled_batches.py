"""Batches that are sampled in every step, and only used at an interval of steps."""

from __future__ import annotations

import ast

from rlint.rule import Guard, GuardKind, Heat, SemanticModel, TypeTag, last_name, regex, variable_names

_SAMPLES = frozenset({"sample", "sample_batch", "get_batch", "sample_buffer", "sample_memory"})
_STORE = regex(r"buffer|memory|replay|(^|_)(rb|mem)$")


def only_at_interval(call: ast.Call, model: SemanticModel) -> Guard | None:
    """Return the interval at which alone the batch is used that a replay buffer samples in each step:
    `batch = memory.sample(64)`, `if step % 4 == 0: learn(batch)`.
    """
    if last_name(call.func) not in _SAMPLES or not _is_store(call, model):
        return None
    statement = model.parent(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return None
    if model.frequency.heat_of(call).level is not Heat.HOT:
        return None
    names = {name for target in statement.targets for name in variable_names(target)}
    scope = model.names.scope(statement)
    if scope.parent is None or not all(map(_is_plain, statement.targets)):
        return None
    reads = [read for name in names for read in model.names.reads(name, scope)]
    reads = [read for read in reads if _comes_from(read, statement, model)]
    around = set(model.frequency.conditions(call))
    found = {_interval(read, around, model) for read in reads}
    return next(iter(found)) if len(found) == 1 else None


def _is_plain(target: ast.expr) -> bool:
    """Whether only variables are assigned."""
    return isinstance(target, ast.Name) or (
        isinstance(target, (ast.Tuple, ast.List)) and all(isinstance(each, ast.Name) for each in target.elts)
    )


def _is_store(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the method is that of a replay buffer, by its type or its name."""
    if not isinstance(call.func, ast.Attribute):
        return False
    owner = call.func.value
    if model.types.type_of(owner).tag is TypeTag.REPLAY_BUFFER:
        return True
    return bool(_STORE.search((last_name(owner) or "").lower()))


def _comes_from(read: ast.Name, statement: ast.Assign, model: SemanticModel) -> bool:
    return any(binding.statement is statement for binding in model.dataflow.definitions(read))


def _interval(read: ast.Name, around: set[Guard], model: SemanticModel) -> Guard | None:
    """Return the interval that governs a read, but not the call."""
    for guard in model.frequency.conditions(read):
        if guard not in around and guard.kind is GuardKind.INTERVAL and (guard.period or 2) > 1:
            return guard
    return None
