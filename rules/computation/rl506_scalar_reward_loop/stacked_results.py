"""Results of a loop over time steps that are tensors, as their list becomes one tensor after the loop."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, descendants, frozen, models
from rlint.rules.computation.rl506_scalar_reward_loop.carried_values import (
    AnyStepLoop,
    added_item,
    from_previous,
    is_step,
    reads,
)

_JOINS = models.having(Trait.JOINS, "torch")
_METHODS = models.methods_of(TypeTag.TENSOR) | {"append", "insert"}
_REORDERS = frozenset({"builtins.reversed", "builtins.list", "builtins.tuple"})


@frozen
class StackedResult:
    """`value` is the result of a step. `join` is the function that makes one tensor of all of them."""

    value: ast.expr
    held: ast.Name
    join: str


def stacked_result(loop: AnyStepLoop, counters: set[str], model: SemanticModel) -> StackedResult | None:
    """Return the result that a loop adds to a list, if it depends on that of the previous step, and
    `torch.stack` or the like joins the list: all items are tensors.
    """
    previous: set[str] | None = None
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name() as held, slice=index)], value=value):
                if not is_step(index, counters):
                    continue
            case _ if (added := added_item(statement)) is not None:
                held, value, _ = added
            case _:
                continue
        previous = from_previous(loop) if previous is None else previous
        if not any(reads(value, name) for name in previous) or not _only_computes(loop, model):
            continue
        join = _join_of(held, model)
        if join is not None:
            return StackedResult(value, held, join)
    return None


def _only_computes(loop: AnyStepLoop, model: SemanticModel) -> bool:
    """Whether a loop calls nothing but operations of torch and methods of tensors and lists: no network."""
    for statement in loop.body:
        for node in descendants(statement):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="self"))):
                    return False
                case ast.Call(func=func):
                    name = model.names.qualified(func) or ""
                    is_method = isinstance(func, ast.Attribute) and func.attr in _METHODS
                    if not (is_method or name.startswith(("torch.", "builtins."))):
                        return False
    return True


def _join_of(held: ast.Name, model: SemanticModel) -> str | None:
    """Return the function that joins the items of a list, in any order: `torch.stack(returns[::-1])`."""
    scope = model.names.scope(held).lookup(held.id)
    if scope is None or not scope.is_function:
        return None
    for read in model.names.reads(held.id, scope):
        node: ast.AST = read
        parent = model.parent(node)
        while parent is not None and _reorders(parent, node, model):
            node, parent = parent, model.parent(parent)
        if isinstance(parent, ast.Call) and parent.args[:1] == [node]:
            name = model.names.qualified(parent.func)
            if name in _JOINS:
                return name
    return None


def _reorders(parent: ast.AST, node: ast.AST, model: SemanticModel) -> bool:
    """Whether an expression has the same items: `returns[::-1]`, `list(reversed(returns))`."""
    match parent:
        case ast.Subscript(value=held, slice=ast.Slice()):
            return held is node
        case ast.Call(func=func, args=[only], keywords=[]):
            return only is node and model.names.qualified(func) in _REORDERS
    return False
