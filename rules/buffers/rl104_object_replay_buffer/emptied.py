"""Buffers that some of their users empty: on-policy algorithms of a library that has off-policy ones too."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import SemanticModel
from rlint.rules.buffers._shared.store_class import is_store_class

_Calls = frozenset[tuple[str, str]]


def is_emptied(draw: ast.AST, emptied: Sequence[ast.AST], model: SemanticModel) -> bool:
    """Whether all code that draws from a list also empties it, as far as is known. Of the algorithms that
    share a buffer class, those for rollouts empty it, and those for replay do not.
    """
    if not emptied:
        return False
    if not is_store_class(model.class_of(draw), model):
        return True
    drawing = model.usage.calls_leading_to(draw)
    emptying = [model.usage.calls_leading_to(each) for each in emptied]
    users = {user for calls in emptying for user in _users(calls)}
    if not all(map(_users, emptying)):
        return True
    owners = set(map(_owner, users))
    above = {caller for calls in emptying for caller, _ in calls}
    return all(
        user in above or _owner(user) in owners or bool(_callers_of(user, drawing) & users)
        for user in _users(drawing)
    )


def _users(calls: _Calls) -> set[str]:
    """Return the functions outside of a buffer class that call its methods on the way to a line in it."""
    callers = {caller for caller, _ in calls}
    last = {_owner(called) for _, called in calls if called not in callers}
    return {caller for caller, called in calls if _owner(called) in last and _owner(caller) not in last}


def _callers_of(function: str, calls: _Calls) -> set[str]:
    """Return the functions that lead to one of the callers."""
    found: set[str] = set()
    pending = [function]
    while pending:
        current = pending.pop()
        for caller, called in calls:
            if called == current and caller not in found:
                found.add(caller)
                pending.append(caller)
    return found


def _owner(function: str) -> str:
    """Return the class of a method, or the module of another function."""
    return function.rpartition(".")[0]
