"""Lists that a loop fills from the front, and edits that append instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    FUNCTIONS,
    LOOPS,
    Applicability,
    Binding,
    BindingKind,
    Edit,
    Fix,
    Loop,
    SemanticModel,
    TypeTag,
    UseKind,
    descendants,
    dump_as_read,
    frozen,
    names_bound,
)
from rlint.rules.computation._shared.early import may_end_early


@frozen
class GrownFront:
    """A statement that inserts `value` before all other items of the list `held`."""

    statement: ast.stmt
    held: ast.Name | ast.Attribute | ast.Subscript
    value: ast.expr


def front_of(node: ast.AST, model: SemanticModel) -> GrownFront | None:
    """Return the list and the value of `x.insert(0, value)` or `x = [value] + x`."""
    if isinstance(node, ast.Assign) and not isinstance(node.value, ast.BinOp):
        return None
    match node:
        case ast.Call(
            func=ast.Attribute(value=(ast.Name() | ast.Attribute() | ast.Subscript()) as held, attr="insert"),
            args=[ast.Constant(value=0 as first), value],
            keywords=[],
        ):
            statement = model.parent(node)
            if isinstance(statement, ast.Expr) and first is not False:
                return GrownFront(statement, held, value)
        case ast.Assign(
            targets=[ast.Name() as held],
            value=ast.BinOp(left=ast.List(elts=[value]), op=ast.Add(), right=ast.Name(id=name)),
        ):
            if held.id == name and not isinstance(value, ast.Starred):
                return GrownFront(node, held, value)
    return None


def is_list(front: GrownFront, model: SemanticModel) -> bool:
    """Whether the filled object surely is a list."""
    held = front.held
    if isinstance(front.statement, ast.Assign):  # a list plus another value is a list, or an error
        return True
    return model.types.type_of(held).tag is TypeTag.LIST


def loop_of(front: GrownFront, model: SemanticModel) -> Loop | None:
    """Return the innermost loop of the same function that fills the list; None if it fills another list of a
    list of lists in each iteration.
    """
    loop = next(iter(_loops_around(front.statement, model)), None)
    if loop is not None and isinstance(front.held, ast.Subscript):
        bound = {name for node in descendants(loop) for name in names_bound(node)}
        if any(isinstance(node, ast.Name) and node.id in bound for node in descendants(front.held)):
            return None
    return loop


def _loops_around(node: ast.AST, model: SemanticModel) -> Iterator[Loop]:
    child = node
    for ancestor in model.ancestors(node):
        if isinstance(ancestor, LOOPS) and any(child is part for part in ancestor.body):
            yield ancestor
        elif isinstance(ancestor, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            return
        child = ancestor


def is_first(front: GrownFront, model: SemanticModel) -> bool:
    """Whether this is the first statement of its loop that fills the list. One finding is enough."""
    loop = loop_of(front, model)
    shown = _shape(front.held)
    for node in descendants(loop) if loop is not None else ():
        other = front_of(node, model)
        if (
            other is not None
            and _shape(other.held) == shown
            and model.source.span(other.statement) < model.source.span(front.statement)
        ):
            return False
    return True


def append_fix(front: GrownFront, model: SemanticModel) -> Fix | None:
    """Append instead, and reverse the list after the loop; None if code would observe the difference in
    between, or the list does not start empty.
    """
    made = _made_at(front, model)
    if made is None or not isinstance(front.held, ast.Name):
        return None
    region = _region(front, made, model)
    if region is None or model.dataflow.between(made, region) is None:
        return None
    edits = _edits(front.held, made, region, model)
    name = front.held.id
    turned = model.edit.insert_after(region, f"{name}.reverse()")
    if edits is None or turned is None:
        return None
    shared = tuple(edit.as_shared() for edit in (*edits, turned))
    reason = None
    if may_end_early(front.held, region, model):
        reason = f"if an exception in the loop is caught around it, `{name}` is left in reverse order"
    safety = Applicability.UNSAFE if reason else Applicability.SAFE
    return Fix(f"Append to `{name}`, and reverse it after the loop", safety, shared, reason)


def _made_at(front: GrownFront, model: SemanticModel) -> ast.stmt | None:
    """Return the statement that creates the empty list, only for this loop."""
    held = front.held
    if not isinstance(held, ast.Name):
        return None
    scope = model.names.scope(held).lookup(held.id)
    if scope is None or scope.is_class or scope is not model.names.scope(held).function:
        return None
    if model.names.is_captured(held.id, scope) or (
        scope.parent is None and model.program.is_imported(held.id)
    ):
        return None
    made = [binding for binding in _definitions(held, front, model) if not _is_front(binding, model)]
    if len(made) != 1 or made[0].kind is not BindingKind.ASSIGN or made[0].path:
        return None
    match made[0].statement, made[0].value:
        case (ast.Assign(targets=[_]) | ast.AnnAssign()) as statement, ast.List(elts=[]):
            return statement
        case (ast.Assign(targets=[_]) | ast.AnnAssign()) as statement, ast.Call(
            func=func, args=[], keywords=[]
        ):
            return statement if model.names.qualified(func) == "builtins.list" else None
    return None


def _definitions(held: ast.Name, front: GrownFront, model: SemanticModel) -> list[Binding]:
    scope = model.names.scope(held).lookup(held.id)
    return model.dataflow.bindings_before(held.id, front.statement, scope) if scope is not None else []


def _is_front(binding: Binding, model: SemanticModel) -> bool:
    return isinstance(binding.statement, ast.Assign) and front_of(binding.statement, model) is not None


def _region(front: GrownFront, made: ast.stmt, model: SemanticModel) -> Loop | None:
    """Return the outermost loop that fills the list that was created before it."""
    found = None
    for loop in _loops_around(front.statement, model):
        if any(ancestor is loop for ancestor in model.ancestors(made)):
            break
        found = loop
    return found


def _edits(held: ast.Name, made: ast.stmt, region: Loop, model: SemanticModel) -> list[Edit] | None:
    """Return the edits that adapt all uses of the list in the loop to its reversed order."""
    scope = model.names.scope(held).lookup(held.id)
    if scope is None:
        return None
    edits: list[Edit] = []
    begun, started = model.source.span(made)[1], model.source.span(region)[0]
    filled: set[int] = set()
    for node in descendants(region):
        front = front_of(node, model)
        if front is not None and isinstance(front.held, ast.Name) and front.held.id == held.id:
            edit = _append_edits(front, model)
            if edit is None:
                return None
            edits += edit
            filled.update(
                map(id, descendants(front.statement)) if isinstance(front.statement, ast.Assign) else ()
            )
            filled.add(id(front.held))
            filled -= set(map(id, descendants(front.value)))
    for use in model.names.uses(held.id, scope):
        if id(use) in filled:
            continue
        if any(ancestor is region for ancestor in model.ancestors(use)):
            edit = _read_edits(use, model)
            if edit is None:
                return None
            edits += edit
        elif begun <= model.source.span(use)[0] < started:
            return None
    return edits


def _append_edits(front: GrownFront, model: SemanticModel) -> list[Edit] | None:
    name = model.source.text(front.held)
    match front.statement:
        case ast.Expr(value=ast.Call(args=[first, _]) as call):
            edit = model.edit.rewrite_call(call, function=f"{name}.append", without=[first])
            return [edit] if edit is not None else None
    return model.edit.keep_alone(front.statement, front.value, f"{name}.append(", ")")


def _read_edits(use: ast.Name, model: SemanticModel) -> list[Edit] | None:
    """Return the edits for a use of the list while it is filled; None if it depends on the order."""
    found = model.syntax.use(use)
    if not isinstance(use.ctx, ast.Load):
        return None
    match parent := found.at:
        case ast.Call(func=func, args=[only], keywords=[]) if only is use:
            return [] if model.names.qualified(func) == "builtins.len" else None
        case _ if found.kind is UseKind.TESTED:
            return []
        case ast.Subscript(value=value, slice=ast.Constant(value=0 as index), ctx=ast.Load()) if value is use:
            return [model.edit.replace(parent.slice, "-1")] if index is not False else None
        case ast.Subscript(value=value, slice=index, ctx=ast.Load()) if value is use:
            return [model.edit.replace(index, "0")] if model.source.text(index) == "-1" else None
    return None


def _shape(held: ast.expr) -> str:
    return dump_as_read(held)
