"""Calls that are evaluated again after an `if` of which one branch has evaluated them."""

from __future__ import annotations

import ast

from rlint.rule import GuardKind, SemanticModel, descendants, is_in
from rlint.rules.computation._shared.sharing import WITHOUT_GRADIENT
from rlint.rules.computation.rl501_duplicate_extract_call.invariant import is_same_within

_SELDOM = frozenset({GuardKind.ONCE, GuardKind.CLOCK, GuardKind.INTERVAL, GuardKind.FAILURE})
_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def evaluated_before(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the evaluation of the same call in one branch of an `if` before the call in its block, so that
    it could be evaluated once, before the `if`.
    """
    statement = model.syntax.statement(call)
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) or not _is_reached(call, statement, model):
        return None
    block, index = model.syntax.block(statement)
    for other in model.dataflow.equal_to(call):
        if other is call:
            return None
        choice = next((part for part in model.ancestors(other) if part in block[:index]), None)
        if not isinstance(choice, ast.If) or other in descendants(choice.test):
            continue
        if any(isinstance(node, _LEAVES) for node in descendants(choice)):
            continue  # only one of them is evaluated
        between = block[block.index(choice) : index]
        if any(guard.kind in _SELDOM for guard in model.frequency.conditions(other)):
            continue
        before = [*between, *model.dataflow.order.earlier(call, statement)]
        if is_same_within(call, before, model) and _is_reached(other, model.syntax.statement(other), model):
            return other
    return None


def _is_reached(call: ast.expr, statement: ast.stmt, model: SemanticModel) -> bool:
    return not isinstance(statement, (ast.For, ast.While)) and bool(
        model.dataflow.order.always_within(call, statement)
    )


def evaluated_without_gradients(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the evaluation of the same call in an earlier `with torch.no_grad():`, if that block also
    computed what the call depends on, so that no gradient reaches it in either place.
    """
    statement = model.syntax.statement(call)
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) or not _is_reached(call, statement, model):
        return None
    block, index = model.syntax.block(statement)
    for other in model.dataflow.equal_to(call):
        if other is call:
            return None
        own = model.syntax.statement(other)
        around = model.parent(own)
        if (
            not isinstance(around, ast.With)
            or around not in block[:index]
            or not _has_no_gradients(around, model)
        ):
            continue
        names = [
            part
            for part in descendants(call)
            if isinstance(part, ast.Name) and model.names.qualified(part) is None
        ]
        made = [each for name in names for each in model.dataflow.definitions(name)]
        if not made or not all(is_in(each.statement, around) for each in made):
            continue
        after = around.body[around.body.index(own) + 1 :]
        before = [
            *after,
            *block[block.index(around) + 1 : index],
            *model.dataflow.order.earlier(call, statement),
        ]
        if is_same_within(call, before, model) and _is_reached(other, own, model):
            return other
    return None


def _has_no_gradients(block: ast.With, model: SemanticModel) -> bool:
    return any(
        isinstance(item.context_expr, ast.Call)
        and model.names.qualified(item.context_expr.func) in WITHOUT_GRADIENT
        for item in block.items
    )
