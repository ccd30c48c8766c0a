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
        found = collected_by(use, model)
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


def collected_by(use: Use, model: SemanticModel) -> tuple[Loop, ast.expr] | None:
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
    if not loops or not isinstance(loops[0], _LOOPS) or holder is None:
        return None
    return (loops[0], collected) if _only_collects(holder, loops[0], model) else None


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


def collecting_loop(read: HostRead, model: SemanticModel) -> tuple[Loop, ast.expr] | None:
    """Return the loop whose iterations append what they read to a list that only code after the loop uses, or
    add it to a sum, and the list or sum: `values.append(value.cpu().numpy())` in a rollout, `total +=
    loss.item()` in an epoch. The list may be an item of a dict: `metrics["loss"].append(float(loss))`.
    """
    loops = model.frequency.loops(read.node)
    if not loops or not isinstance(loops[0], _LOOPS):
        return None
    loop = loops[0]
    match model.syntax.statement(read.node):
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=collected, attr="append"), args=[value])) if (
            _is_of_read(value, read.node)
        ):
            pass
        case ast.AugAssign(target=collected, op=ast.Add(), value=value) if _is_of_read(
            _scaled(_only_item(value)), read.node
        ):
            pass
        case _:
            return None
    holder = root_name(collected)
    if holder is None or not _only_collects(holder, loop, model):
        return None
    if isinstance(holder.ctx, ast.Load) and any(
        binding.kind is not BindingKind.ASSIGN for binding in model.dataflow.definitions(holder)
    ):
        return None
    return loop, collected


def _only_collects(holder: ast.Name, loop: Loop, model: SemanticModel) -> bool:
    """Whether a loop only adds to a sum or list of its function, or to a dict of them."""
    if model.names.is_self(holder):
        return False
    scope = model.names.scope(holder).lookup(holder.id)
    if scope is None or not scope.is_function or model.names.is_captured(holder.id, scope):
        return False
    return all(_is_collecting(use, model) for use in model.names.uses(holder.id, scope) if is_in(use, loop))


def _only_item(value: ast.expr) -> ast.expr:
    """Return the item that a list is added for: `x.item()` of `fractions += [x.item()]`."""
    match value:
        case ast.List(elts=[item]):
            return item
    return value


def _scaled(value: ast.expr) -> ast.expr:
    """Return the number that is weighted before it is added: `x.item()` of `x.item() * len(rows)`."""
    match value:
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div()):
            return left
    return value


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
            case ast.Call(func=ast.Name(id="float"), args=[number]):
                value = number
            case _:
                return False
    return True
