"""Edits that create an object before a loop instead of in it."""

from __future__ import annotations

import ast

from rlint.rule import Edit, SemanticModel, descendants


def moved_before(
    call: ast.Call, loop: ast.For | ast.AsyncFor | ast.While, wanted: str, model: SemanticModel
) -> tuple[Edit, ...] | None:
    """Return edits that evaluate a call once, before a loop; None if not all of its text can be moved."""
    if not model.edit.is_relocatable(call) or any(
        isinstance(node, ast.withitem) for node in _up(call, loop, model)
    ):
        return None
    if _is_bound_inside(call, loop, model):
        return None
    statement = model.parent(call)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name) as target]):
            if statement not in loop.body:
                return None  # in a `with` block, whatever that does
            return _whole(statement, name, target, loop, model)
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Expr():
            return None
    key = f"before {model.source.span(loop)[0]} {model.source.text(call)}"
    name = model.importer.fresh_local([wanted, f"{wanted}_once", f"shared_{wanted}"], call, key)
    before = model.edit.insert_before(
        loop,
        f"{name} = {model.edit.parenthesized(call)}",
        indentation=model.source.indentation(model.syntax.statement(call)),
    )
    return (before.as_shared(), model.edit.replace(call, name)) if before is not None else None


def _is_bound_inside(call: ast.Call, loop: ast.AST, model: SemanticModel) -> bool:
    """Whether any name that a call reads is set in the loop."""
    inside = {id(node) for node in descendants(loop)}
    own = {id(node) for node in descendants(call)}
    return any(
        id(binding.node) in inside and id(binding.node) not in own
        for node in descendants(call)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        for binding in model.dataflow.definitions(node)
    )


def _whole(
    statement: ast.Assign,
    name: str,
    target: ast.Name,
    loop: ast.For | ast.AsyncFor | ast.While,
    model: SemanticModel,
) -> tuple[Edit, ...] | None:
    scope = model.names.scope(target)
    if len(model.names.bindings(target)) != 1 or model.names.is_captured(name, scope):
        return None
    inside = {id(node) for node in descendants(loop)}
    if any(id(read) not in inside for read in model.names.reads(name, scope.lookup(name) or scope)):
        return None  # its value after a loop without iterations
    before = model.edit.insert_before(
        loop,
        model.source.text(statement) + model.source.trailing_comment(statement),
        indentation=model.source.indentation(statement),
    )
    deleted = model.edit.delete_statement(statement)
    return (before, deleted) if before is not None and deleted is not None else None


def _up(node: ast.AST, loop: ast.AST, model: SemanticModel) -> list[ast.AST]:
    found: list[ast.AST] = []
    for parent in model.ancestors(node):
        if parent is loop:
            break
        found.append(parent)
    return found
