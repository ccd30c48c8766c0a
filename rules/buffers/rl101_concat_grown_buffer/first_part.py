"""The fix for an array that is None until its first part: a list of parts, concatenated after the loop."""

from __future__ import annotations

import ast

from rlint.rule import (
    LOOPS,
    Applicability,
    ArrayGrowth,
    Fix,
    LoopCarried,
    SemanticModel,
    array_growth,
    is_constant,
    same_code,
)
from rlint.rules.buffers.rl101_concat_grown_buffer import parts_list, unseen

REASON = "with a single part, `{name}` was that object itself; now it is a new array"
JOINS = frozenset({"numpy.concatenate", "torch.cat"})


def build(growth: ArrayGrowth, carried: LoopCarried, model: SemanticModel) -> Fix | None:
    """Return the fix for `x = part if x is None else join((x, part))` and the same with `if` and `else`."""
    loop, target = carried.loops[-1], growth.target
    found = replaced(growth, model)
    if found is None or not isinstance(target, ast.Name) or not isinstance(loop, LOOPS):
        return None
    statement, uses = found
    scope = model.names.scope(statement).lookup(target.id)
    outside = [binding for binding in carried.starts if binding not in carried.restarts]
    if scope is None or not scope.is_function or len(carried.restarts) != uses - 3 or not outside:
        return None
    if any(
        not is_constant(binding.value, None) or model.parent(binding.statement) is not model.parent(loop)
        for binding in outside
    ):
        return None
    if not unseen.is_unseen(target.id, growth, loop, scope, model, uses):
        return None
    name = model.importer.fresh_name(f"{target.id}_parts")
    row = parts_list.copied(growth.new[0], growth, model)
    joined = parts_list.join(None, name, growth, model)
    if row is None or joined is None:
        return None
    made = parts_list.edits(growth, loop, statement, name, [row], joined, model)
    if made is None:
        return None
    return Fix(parts_list.TITLE, Applicability.UNSAFE, made, REASON.format(name=target.id))


def replaced(growth: ArrayGrowth, model: SemanticModel) -> tuple[ast.stmt, int] | None:
    """Return the statement that does both, and how often it names the variable; None for other forms."""
    join, statement = growth.join, growth.statement
    if join.function not in JOINS or join.literal is None or not join.plain or growth.front or growth.bounds:
        return None
    if len(growth.new) != 1 or not growth.in_place or not parts_list.is_constant(join.axis):
        return None
    if isinstance(growth.new[0], ast.Starred) or not isinstance(statement, ast.Assign):
        return None
    if isinstance(statement.value, ast.IfExp):
        first, later = branches(statement.value.test, statement.value.body, statement.value.orelse, growth)
        return (statement, 3) if later is join.node and same_code(first, growth.new[0]) else None
    parent = model.parent(statement)
    if not isinstance(parent, ast.If) or len(parent.body) != 1 or len(parent.orelse) != 1:
        return None
    begin, go_on = branches(parent.test, parent.body[0], parent.orelse[0], growth)
    if go_on is not statement or statement.value is not join.node or not isinstance(begin, ast.Assign):
        return None
    same = len(begin.targets) == 1 and array_growth.same_place(begin.targets[0], growth.target)
    return (parent, 4) if same and same_code(begin.value, growth.new[0]) else None


def branches(
    test: ast.expr, body: ast.AST, orelse: ast.AST, growth: ArrayGrowth
) -> tuple[ast.AST | None, ast.AST | None]:
    """Return the first and the later branch, if the test compares the variable with None."""
    match test:
        case ast.Compare(left=left, ops=[ast.Is()], comparators=[other]) if is_constant(other, None):
            return (body, orelse) if array_growth.same_place(left, growth.target) else (None, None)
        case ast.Compare(left=left, ops=[ast.IsNot()], comparators=[other]) if is_constant(other, None):
            return (orelse, body) if array_growth.same_place(left, growth.target) else (None, None)
    return None, None
