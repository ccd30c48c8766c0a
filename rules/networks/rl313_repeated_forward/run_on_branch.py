"""Forward passes that one branch of a condition runs, and the code after the condition again."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, children, is_in
from rlint.rules.networks._shared.same_input import have_same_blocks, likely_stays_the_same

_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def sees_the_same_on_branch(call: ast.Call, again: ast.Call, model: SemanticModel) -> bool:
    """Whether `call` runs in a branch of an `if`, and `again`, after it, likely on the same input with the
    same weights: `if double: a = net(x).argmax(1) else: a = target(x).argmax(1)`, then `target(x)`. If
    `again` runs in a branch as well, it runs under all conditions of `call`.
    """
    statement = model.syntax.statement(again)
    before: list[ast.AST] = []
    conditions: set[tuple[str, bool]] = set()
    while (branch := _branch_in(_earlier(statement, model), call, model)) is None:
        around = model.parent(statement)
        if not isinstance(around, ast.If):
            return False
        before += [*_earlier(statement, model), around.test]
        conditions.add(_condition(around, statement))
        statement = around
    if not have_same_blocks(call, again, model):
        return False
    if conditions and not _conditions_of(call, branch, model) <= conditions:
        return False
    block, place = model.syntax.block(statement)
    if model.frequency.heat_of(call).level < model.frequency.heat_of(again).level:
        return False  # now and then
    between: list[ast.AST] = [*block[block.index(branch) + 1 : place], *before]
    inner: ast.stmt = model.syntax.statement(call)
    while inner is not branch:
        inside, index = model.syntax.block(inner)
        if any(isinstance(each, _LEAVING) for each in inside[index:]):
            return False
        between += inside[index + 1 :]
        parent = model.parent(inner)
        assert isinstance(parent, ast.stmt)
        inner = parent
    within = _evaluated_with(again, model.syntax.statement(again))
    same: bool = likely_stays_the_same(call, (*between, *within), model)
    return same


def _earlier(statement: ast.stmt, model: SemanticModel) -> list[ast.stmt]:
    """Return the statements before another one in its block."""
    block, place = model.syntax.block(statement)
    return block[:place]


def _condition(branch: ast.If, inside: ast.stmt) -> tuple[str, bool]:
    """Return the condition for a statement of a branch, and its outcome."""
    return ast.dump(branch.test), inside in branch.body


def _conditions_of(call: ast.Call, branch: ast.If, model: SemanticModel) -> set[tuple[str, bool]]:
    """Return the conditions under which a call in a branch runs, up to those of the branch."""
    found: set[tuple[str, bool]] = set()
    statement: ast.AST = model.syntax.statement(call)
    while statement is not branch:
        around = model.parent(statement)
        assert around is not None
        if isinstance(around, ast.If) and isinstance(statement, ast.stmt):
            found.add(_condition(around, statement))
        statement = around
    return found


def _branch_in(block: list[ast.stmt], call: ast.Call, model: SemanticModel) -> ast.If | None:
    """Return the `if` statement of a block one of whose branches runs a call in each execution."""
    for statement in block:
        if not isinstance(statement, ast.If) or not is_in(call, statement):
            continue
        inner: ast.AST | None = model.syntax.statement(call)
        if inner is statement:
            return None  # part of the test
        while inner is not None and (inner := model.parent(inner)) is not statement:
            if not isinstance(inner, ast.If):
                return None
        return statement
    return None


def _evaluated_with(again: ast.Call, statement: ast.stmt) -> list[ast.AST]:
    """Return the other expressions of the statement of a call; its targets are written afterwards."""
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.expr):
        return []
    found: list[ast.AST] = []
    node: ast.AST = value
    while node is not again:
        inside = list(children(node))
        found += [part for part in inside if not is_in(again, part)]
        node = next(part for part in inside if is_in(again, part))
    return found
