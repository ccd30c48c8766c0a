"""Reads that a loop of steps only collects in a list or a sum, which is not used before the loop ends."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, Loop, SemanticModel, Use, UseKind, is_in, root_name
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def collecting_caller(read: HostRead, model: SemanticModel) -> tuple[Loop, ast.expr] | None:
    """Return the loop of a caller whose iterations only add what a function reads and returns to a sum or
    list that is not used before the loop ends, and the sum or list: `total += self.update(batch)`, where
    `update` returns `loss.item()`. All callers must be known.
    """
    if model.frequency.loops(read.node) or model.function(read.node) is None:
        return None
    found: tuple[Loop, ast.expr] | None = None
    for use in model.dataflow.uses_across_functions(read.node, lambda use: _passes_on(use, model)):
        if use.cause is not None:
            return None
        if use.kind is UseKind.DISCARDED or _passes_on(use, model):
            continue
        found = _collected_by(use, model)
        if found is None or model.function(found[1]) is model.function(read.node):
            return None
    return found


def _passes_on(use: Use, model: SemanticModel) -> bool:
    """Whether a use only takes a value from a container, or scales it."""
    match use.at:
        case ast.Subscript(ctx=ast.Load(), slice=ast.Constant()):
            return use.kind is UseKind.ITEM
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div()):
            return left is use.node
        case ast.Call(func=func):
            return model.names.qualified(func) == "builtins.float"
    return False


def _collected_by(use: Use, model: SemanticModel) -> tuple[Loop, ast.expr] | None:
    """Return the innermost loop around a use, and the sum or list that it adds the value to, if the loop
    does not use that otherwise.
    """
    match use.at:
        case ast.AugAssign(target=collected, op=ast.Add()) if use.kind is UseKind.ADDED:
            pass
        case ast.Call(func=ast.Attribute(value=collected, attr="append")) if use.kind is UseKind.ARGUMENT:
            pass
        case _:
            return None
    loops = model.frequency.loops(use.at)
    holder = root_name(collected)
    if not loops or not isinstance(loops[0], _LOOPS) or holder is None or model.names.is_self(holder):
        return None
    scope = model.names.scope(holder).lookup(holder.id)
    if scope is None or not scope.is_function or model.names.is_captured(holder.id, scope):
        return None
    uses = [each for each in model.names.uses(holder.id, scope) if is_in(each, loops[0])]
    return (loops[0], collected) if all(_is_collecting(each, model) for each in uses) else None


def _is_collecting(use: ast.Name, model: SemanticModel) -> bool:
    """Whether a use of a sum or list, or of a dict of them, only adds to it."""
    holder: ast.AST = use
    around = model.parent(holder)
    while isinstance(around, ast.Subscript) and around.value is holder:
        holder, around = around, model.parent(around)
    if isinstance(around, ast.AugAssign):
        return around.target is holder
    return (
        isinstance(around, ast.Attribute)
        and around.attr == "append"
        and isinstance(model.parent(around), ast.Call)
    )


def collecting_loop(read: HostRead, model: SemanticModel) -> tuple[Loop, ast.Name] | None:
    """Return the loop whose iterations append what they read to a list that only code after the loop uses, or
    add it to a sum, and the list or sum: `values.append(value.cpu().numpy())` in a rollout, `total +=
    loss.item()` in an epoch.
    """
    loops = model.frequency.loops(read.node)
    if not loops or not isinstance(loops[0], (ast.For, ast.AsyncFor, ast.While)):
        return None
    loop = loops[0]
    match model.syntax.statement(read.node):
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name() as collected, attr="append"), args=[value])
        ) if _is_of_read(value, read.node):
            pass
        case ast.AugAssign(target=ast.Name() as collected, op=ast.Add(), value=value) if _is_of_read(
            _scaled(value), read.node
        ):
            pass
        case _:
            return None
    scope = model.names.scope(collected).lookup(collected.id)
    if scope is None or not scope.is_function or model.names.is_captured(collected.id, scope):
        return None
    uses = [use for use in model.names.uses(collected.id, scope) if is_in(use, loop)]
    if isinstance(collected.ctx, ast.Store):
        return (loop, collected) if all(_is_added_to(use, model) for use in uses) else None
    if any(is_in(binding.node, loop) for binding in model.dataflow.definitions(collected)):
        return None
    if any(binding.kind is not BindingKind.ASSIGN for binding in model.dataflow.definitions(collected)):
        return None
    return (loop, collected) if all(_is_appended_to(use, model) for use in uses) else None


def _scaled(value: ast.expr) -> ast.expr:
    """Return the number that is weighted before it is added: `x.item()` of `x.item() * len(rows)`."""
    match value:
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div()):
            return left
    return value


def _is_added_to(use: ast.Name, model: SemanticModel) -> bool:
    """Whether a use of a sum adds to it: `total += x`."""
    change = model.parent(use)
    return isinstance(change, ast.AugAssign) and change.target is use


def _is_of_read(value: ast.expr, read: ast.AST) -> bool:
    """Whether a value is what was read, or a view of it: `x.cpu().numpy().squeeze()`, `x.tolist()[0]`."""
    while value is not read:
        match value:
            case ast.Call(func=ast.Attribute(value=owner), args=arguments) if all(
                isinstance(argument, (ast.Constant, ast.UnaryOp)) for argument in arguments
            ):
                value = owner
            case ast.Subscript(value=owner, slice=ast.Constant()):
                value = owner
            case _:
                return False
    return True


def _is_appended_to(use: ast.Name, model: SemanticModel) -> bool:
    method = model.parent(use)
    return (
        isinstance(method, ast.Attribute)
        and method.attr == "append"
        and isinstance(model.parent(method), ast.Call)
    )
