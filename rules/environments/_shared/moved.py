"""Edits that make a thing before a loop which was made in it."""

from __future__ import annotations

import ast
from dataclasses import replace

from rlint.rule import Edit
from rlint.semantics.model import Site
from rlint.syntax.walk import below


def moved_before(
    call: ast.Call, loop: ast.For | ast.AsyncFor | ast.While, wanted: str, site: Site
) -> tuple[Edit, ...] | None:
    """Edits that evaluate a call once, before a loop; None where that cannot be done with all its text."""
    if not site.can_be_moved(call) or any(isinstance(node, ast.withitem) for node in _up(call, loop, site)):
        return None
    statement = site.parent(call)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name) as target]):
            if statement not in loop.body:
                return None  # in a `with` block, whatever that does
            return _whole(statement, name, target, loop, site)
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Expr():
            return None
    key = f"before {site.span(loop)[0]} {site.text(call)}"
    name = site.free_local([wanted, f"{wanted}_once", f"shared_{wanted}"], call, key)
    code = site.moved(f"{name} = {site.operand(call)}", site.tree.statement(call), loop)
    before = site.insert_before(loop, code) if code is not None else None
    return (replace(before, shared=True), site.replace(call, name)) if before is not None else None


def _whole(
    statement: ast.Assign, name: str, target: ast.Name, loop: ast.For | ast.AsyncFor | ast.While, site: Site
) -> tuple[Edit, ...] | None:
    scope = site.scope(target)
    start, _ = site.span(statement)
    line_end = site.tree.positions.line_end(statement.end_lineno or statement.lineno)
    if len(site.bindings(target)) != 1 or site.captured(name, scope) or site.has_comment(start, line_end):
        return None
    inside = {id(node) for node in below(loop)}
    if any(id(read) not in inside for read in site.reads(name, scope.lookup(name) or scope)):
        return None  # what it is behind a loop that never ran
    code = site.moved(site.text(statement), statement, loop)
    before = site.insert_before(loop, code) if code is not None else None
    deleted = site.delete(statement)
    return (before, deleted) if before is not None and deleted is not None else None


def _up(node: ast.AST, loop: ast.AST, site: Site) -> list[ast.AST]:
    found: list[ast.AST] = []
    for parent in site.ancestors(node):
        if parent is loop:
            break
        found.append(parent)
    return found
