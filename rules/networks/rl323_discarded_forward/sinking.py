"""Code sinking: statements that can move into the branch that uses their results."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from rlint.rule import (
    FUNCTIONS,
    Edit,
    Scope,
    SemanticModel,
    descendants,
    frozen,
    is_in,
    is_in_block,
    last_name,
    regex,
)
from rlint.rules.networks._shared.same_input import is_forward, likely_stays_the_same, stays_the_same

_BLOCKS = frozenset({"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"})
_END = regex(r"done|terminat|truncat|terminal|(^|_)last(_|$)", re.IGNORECASE)
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr)
_OTHER = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


@frozen
class Waste:
    """A branch that does not use the results of `moved`, which precede it.

    `taken` is the outcome of the test for which no result is used; `before` is the statement before which
    they can be inserted, or None if they become the `else` of the branch. A conditional expression has no
    place for statements.
    """

    branch: ast.If | ast.IfExp
    taken: bool
    moved: tuple[ast.stmt, ...]
    before: ast.stmt | None
    is_sure: bool = True
    """Whether no code in between changes the weights; otherwise this is likely."""


def bound_names(unit: ast.stmt) -> list[ast.Name] | None:
    """Return the names that a statement without side effects binds; None for all others."""
    match unit:
        case ast.Assign(targets=[ast.Name() as target]):
            return [target]
        case ast.Assign(targets=[ast.Tuple(elts=elements)]):
            targets = (part.value if isinstance(part, ast.Starred) else part for part in elements)
            names = [target for target in targets if isinstance(target, ast.Name)]
            return names if len(names) == len(elements) else None
        case ast.With(items=items, body=body):
            found: list[ast.Name] = []
            for statement in body:
                inner = bound_names(statement) if isinstance(statement, ast.Assign) else None
                if inner is None:
                    return None
                found += inner
            return found if all(item.optional_vars is None for item in items) else None
    return None


def only_computes(unit: ast.stmt, model: SemanticModel, but: ast.Call | None = None) -> bool:
    """Whether the only effect of a statement, `but` for one call, is binding names. Networks in it may draw
    random numbers.
    """
    if isinstance(unit, ast.With):
        blocks = [item.context_expr for item in unit.items]
        return all(_is_block(block, model) for block in blocks) and all(
            only_computes(statement, model, but) for statement in unit.body
        )
    if not isinstance(unit, ast.Assign):
        return False
    for node in descendants(unit.value):
        if isinstance(node, _OTHER):
            return False
        if isinstance(node, ast.Call) and not (
            node is but or model.effects.call_effect(node).quiet or is_forward(node, model, may_draw=True)
        ):
            return False
    return True


def _is_block(block: ast.expr, model: SemanticModel) -> bool:
    return isinstance(block, ast.Call) and not block.args and model.names.qualified(block.func) in _BLOCKS


def is_read(name: ast.Name, scope: Scope, model: SemanticModel) -> bool:
    """Whether any node reads a binding of a name."""
    return bool(model.analysis.reads_of(name, scope))


def has_branch_after(unit: ast.stmt, model: SemanticModel) -> bool:
    """Whether a condition follows a statement in the same block, or is part of one of its statements."""
    block, index = model.syntax.block(unit)
    return any(
        isinstance(statement, ast.If) or (isinstance(statement, _SIMPLE) and _has_choice(statement))
        for statement in block[index + 1 :]
    )


def _has_choice(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.IfExp) for node in descendants(statement))


def reads_of(names: list[ast.Name], scope: Scope, model: SemanticModel) -> list[ast.Name] | None:
    """Return the nodes that may read these names, all after the statements; None if there are others."""
    found = []
    for name in names:
        if model.names.scope(name).lookup(name.id) is not scope or model.names.is_captured(name.id, scope):
            return None
        bound_at, _ = model.source.span(model.syntax.statement(name))
        for use in model.names.uses(name.id, scope):
            if isinstance(use.ctx, ast.Del) or isinstance(model.parent(use), ast.AugAssign):
                return None
        for use in model.analysis.reads_of(name, scope):
            if model.source.span(model.syntax.statement(use))[0] <= bound_at:
                return None  # the next iteration of a loop reads it
            found.append(use)
    return found


def unit_of(node: ast.AST, model: SemanticModel) -> ast.stmt:
    """Return the statement that contains a node, or the `no_grad` block that only contains that one."""
    statement = model.syntax.statement(node)
    around = model.parent(statement)
    return around if isinstance(around, ast.With) and bound_names(around) is not None else statement


def waste_of(unit: ast.stmt, scope: Scope, model: SemanticModel) -> Waste | None:
    """Return the branch after a statement in which its results are not used."""
    block, index = model.syntax.block(unit)
    moved: list[ast.stmt] = [unit]
    between: list[ast.AST] = []
    names = bound_names(unit) or []
    for position in range(index + 1, len(block)):
        statement = block[position]
        reads = reads_of(names, scope, model)
        if reads is None:
            return None
        users = {use for read in reads if (use := _member(read, block, model)) is not None}
        if any(_member(read, block, model) is None for read in reads):
            return None  # the next iteration of a loop uses it
        outside = {user for user in users if user not in moved}
        if not outside:
            return None
        if isinstance(statement, ast.If):
            inside = [read for read in reads if _member(read, block, model) is statement]
            waste = _branch(
                statement, tuple(moved), inside, len(outside), block[position + 1 :], names, model
            )
            if waste is not None:
                return _if_the_same(waste, [*between, statement.test, *_passed(waste)], model)
        elif outside == {statement} and (choice := _choice(statement, reads, model)) is not None:
            waste = Waste(choice, is_in(reads[0], choice.orelse), tuple(moved), None)
            if not _at_the_end_alone(waste):
                return _if_the_same(waste, [*between, choice.test], model)
        if statement in users:
            more = bound_names(statement)
            if more is None or not only_computes(statement, model):
                return None
            moved.append(statement)
            names = names + more
        else:
            between.append(statement)
    return None


def _if_the_same(waste: Waste, parts: list[ast.AST], model: SemanticModel) -> Waste | None:
    """Return the waste if the results stay the same when they are computed after `parts`."""
    if all(stays_the_same(unit, parts, model) for unit in waste.moved):
        return waste
    likely = all(likely_stays_the_same(unit, parts, model) for unit in waste.moved)
    return replace(waste, is_sure=False) if likely else None


def _choice(statement: ast.stmt, reads: list[ast.Name], model: SemanticModel) -> ast.IfExp | None:
    """Return the conditional expression of a statement that has all of these reads in the same branch, if
    they are the only ones: `action = sample() if explore else q.argmax()`.
    """
    found: ast.IfExp | None = None
    for read in reads:
        if not is_in(read, statement):
            continue
        around = [above for above in model.ancestors(read) if isinstance(above, ast.IfExp)]
        if not around or (found is not None and around[-1] is not found):
            return None
        found = around[-1]
    here = [read for read in reads if found is not None and is_in(read, found)]
    arms = [all(is_in(read, arm) for read in here) for arm in (found.body, found.orelse)] if found else []
    return found if any(arms) else None


def _member(node: ast.AST, block: list[ast.stmt], model: SemanticModel) -> ast.stmt | None:
    """Return the statement of a block that contains a node."""
    for ancestor in model.ancestors(node):
        if isinstance(ancestor, ast.stmt) and ancestor in block:
            return ancestor
    return None


def _branch(
    branch: ast.If,
    moved: tuple[ast.stmt, ...],
    inside: list[ast.Name],
    users: int,
    after: list[ast.stmt],
    names: list[ast.Name],
    model: SemanticModel,
) -> Waste | None:
    used = [any(is_in_block(read, arm) for read in inside) for arm in (branch.body, branch.orelse)]
    if any(is_in(read, branch.test) for read in inside) or fails(branch):
        return None
    found = None
    if inside and users == 1 and used[0] != used[1]:
        arm = branch.body if used[0] else branch.orelse
        found = Waste(branch, not used[0], moved, arm[0])
    elif inside and used[0] != used[1]:
        arm, other = (branch.body, branch.orelse) if used[0] else (branch.orelse, branch.body)
        if all(_binds(other, name) for name in _read_after(names, branch, moved, model)):
            found = Waste(branch, not used[0], moved, arm[0])
    elif inside and users == 1:
        end = end_of_chain(branch, inside)
        found = Waste(*end, moved, None, is_sure=False) if end is not None else None
    elif not inside and after:
        leaving = [leaves(arm, branch, model) for arm in (branch.body, branch.orelse)]
        if leaving[0] != leaving[1]:
            found = Waste(branch, leaving[0], moved, after[0])
        elif not branch.orelse and _all_rebound(names, branch, moved, model):
            found = Waste(branch, taken=True, moved=moved, before=None)
    return found if found is not None and not _at_the_end_alone(found) else None


def end_of_chain(branch: ast.If, reads: Iterable[ast.AST]) -> tuple[ast.If, bool] | None:
    """Return the last test of a chain of branches (`elif`) and its outcome, if only that arm of the chain
    does not use a result: the default, of which the others are options.
    """
    reads = list(reads)
    used = [any(is_in_block(read, arm) for read in reads) for arm in (branch.body, branch.orelse)]
    if not all(used) or len(branch.orelse) != 1 or not isinstance(last := branch.orelse[0], ast.If):
        return None
    if any(is_in(read, last.test) for read in reads) or fails(last) or not last.orelse:
        return None  # without an `else`, the tests may name all values of an option
    if any(is_in_block(read, last.orelse) for read in reads):
        return end_of_chain(last, reads)
    return last, False


def tests_of_chain(branch: ast.If, unit: ast.AST, model: SemanticModel) -> list[ast.expr]:
    """Return the tests of a chain of branches after a statement, up to one of them."""
    tests = [branch.test]
    above = model.parent(branch)
    while isinstance(above, ast.If) and not is_in(unit, above):
        tests.insert(0, above.test)
        above = model.parent(above)
    return tests


def fails(branch: ast.If) -> bool:
    """Whether one of the arms of a branch only handles errors."""
    return any(arm and isinstance(arm[-1], ast.Raise) for arm in (branch.body, branch.orelse))


def leaves(arm: list[ast.stmt], branch: ast.If, model: SemanticModel) -> bool:
    """Whether these statements end the call of the function, or the iteration of the loop."""
    if not arm:
        return False
    around = next(
        (a for a in model.ancestors(branch) if isinstance(a, (ast.For, ast.AsyncFor, ast.While, *FUNCTIONS))),
        None,
    )
    return isinstance(arm[-1], ast.Return if isinstance(around, FUNCTIONS) else ast.Continue)


def _all_rebound(
    names: list[ast.Name], branch: ast.If, moved: tuple[ast.stmt, ...], model: SemanticModel
) -> bool:
    """Whether the body of a branch overwrites every name that is read after it."""
    wanted = _read_after(names, branch, moved, model)
    return bool(wanted) and all(_binds(branch.body, name) for name in wanted)


def _read_after(
    names: list[ast.Name], branch: ast.If, moved: tuple[ast.stmt, ...], model: SemanticModel
) -> set[str]:
    """Return the names whose value here is read outside of the branch and of the moved statements."""
    return {
        name.id
        for name in names
        for read in model.analysis.reads_of(name, model.names.scope(name))
        if not any(above is branch or above in moved for above in model.ancestors(read))
    }


def _binds(block: list[ast.stmt], name: str) -> bool:
    """Whether running these statements surely binds a name."""
    for statement in block:
        match statement:
            case ast.Assign(targets=targets):
                bound = [node for target in targets for node in descendants(target)]
            case ast.AnnAssign(target=target, value=ast.expr()):
                bound = [target]
            case ast.If(body=body, orelse=orelse):
                if orelse and _binds(body, name) and _binds(orelse, name):
                    return True
                continue
            case ast.With(body=body):
                if _binds(body, name):
                    return True
                continue
            case _:
                continue
        if any(isinstance(node, ast.Name) and node.id == name for node in bound):
            return True
    return False


def _at_the_end_alone(waste: Waste) -> bool:
    return ends_episode(waste.branch.test, outcome=waste.taken)


def ends_episode(test: ast.expr, *, outcome: bool) -> bool:
    """Whether a test has an outcome only at the end of an episode, which is one step of many."""
    ends = outcome
    if not any(_END.search(last_name(node) or "") for node in descendants(test)):
        return False
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, ends = test.operand, not ends
    return ends


def _passed(waste: Waste) -> Iterator[ast.stmt]:
    """Yield the statements of the branch that run before the new place."""
    before = waste.before
    if isinstance(waste.branch, ast.IfExp):
        return
    if before is not None and before not in (*waste.branch.body[:1], *waste.branch.orelse[:1]):
        yield from waste.branch.orelse if waste.taken else waste.branch.body


def sink(waste: Waste, model: SemanticModel) -> tuple[Edit, ...] | None:
    """Return the edits that move the statements; None if a comment or the layout prevents it."""
    edits: list[Edit] = []
    moved: list[str] = []
    if isinstance(waste.branch, ast.IfExp):
        return None
    for unit in waste.moved:
        removed = model.edit.delete_statement(unit)
        if removed is None:
            return None
        edits.append(removed)
        moved.append(model.source.text(unit) + model.source.trailing_comment(unit))
    indentation = model.source.indentation(waste.moved[0])
    if waste.before is not None:
        put = model.edit.insert_before(waste.before, *moved, indentation=indentation)
    else:
        put = model.edit.add_else(waste.branch, *moved, indentation=indentation)
    return (*edits, put) if put is not None else None
