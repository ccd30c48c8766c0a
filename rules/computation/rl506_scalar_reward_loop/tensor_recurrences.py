"""Recurrences over time that torch computes step by step, on single numbers or on short rows."""

from __future__ import annotations

import ast
import re

from rlint.rule import BindingKind, SemanticModel, Trait, TypeTag, descendants, frozen, models, regex

_DISCOUNTED = regex(r"gamma|lambda|(^|_)lam(_|$)|discount|gae|returns?(_|$)|advantage", re.IGNORECASE)
_FEWEST_TENSORS = 2
_LISTS_OF = models.having(Trait.FROM_DATA | Trait.LEGACY, "torch") | {"torch.empty", "torch.zeros"}


@frozen
class Recurrence:
    """The tensor that a recurrence goes through, number by number or row by row. `operations` is how many
    sums, differences and products each step takes.
    """

    held: ast.expr
    by_rows: bool
    operations: int


def tensor_recurrence(loop: ast.For, model: SemanticModel) -> Recurrence | None:
    """The recurrence that a loop computes over the steps of a tensor, backwards or forwards."""
    counters = _counters(loop, model)
    if counters is None or not _recurs(loop):
        return None
    names = {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in descendants(loop)
        if isinstance(node, (ast.Name, ast.Attribute))
    }
    if not any(_DISCOUNTED.search(name) for name in names):
        return None
    operations = sum(map(_operations, loop.body))
    rows: list[ast.expr] = []
    for node in descendants(loop):
        match node:
            case ast.Subscript(value=held, slice=index) if _is_step(index, counters):
                if _is_vector(held, model) or (_is_tensor(held, model) and _is_number(node, model)):
                    return Recurrence(held, by_rows=False, operations=operations)
                if _is_tensor(held, model) and isinstance(node.ctx, ast.Load):
                    rows.append(held)
    for held, item in _iterated(loop.iter, loop.target, model):
        if _is_vector(held, model) or _are_numbers(loop, held, item, model):
            return Recurrence(held, by_rows=False, operations=operations)
    if len({ast.dump(held) for held in rows}) < _FEWEST_TENSORS:
        return None  # the rest is numbers, or something nobody knows
    return Recurrence(rows[0], by_rows=True, operations=operations)


def _operations(node: ast.AST) -> int:
    """How many operators there are, apart from those that compute an index."""
    parts = [node.value] if isinstance(node, ast.Subscript) else ast.iter_child_nodes(node)
    return isinstance(node, ast.BinOp) + sum(map(_operations, parts))


def _counters(loop: ast.For, model: SemanticModel) -> set[str] | None:
    """The variables that count the steps; empty for a loop over the values themselves."""
    iterable = loop.iter
    match iterable:
        case ast.Call(func=func, args=[inner]) if model.names.qualified(func) == "builtins.reversed":
            iterable = inner
    match iterable, loop.target:
        case ast.Call(func=func), ast.Name(id=name) if model.names.qualified(func) == "builtins.range":
            return {name}
        case ast.Call(func=func), ast.Tuple(elts=[ast.Name(id=name), *_]):
            return {name} if model.names.qualified(func) == "builtins.enumerate" else set()
    return set()


def _is_step(index: ast.expr, counters: set[str]) -> bool:
    """`t`, `t + 1`."""
    match index:
        case ast.Name(id=name) | ast.BinOp(left=ast.Name(id=name), right=ast.Constant()):
            return name in counters
    return False


def _recurs(loop: ast.For) -> bool:
    """Does each pass compute a product with what the pass before it computed?"""
    assigned: dict[str, list[ast.expr]] = {}
    for node in descendants(loop):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            if isinstance(target, ast.Name):
                assigned.setdefault(target.id, []).append(node.value)
            elif isinstance(target, ast.Subscript) and _reads_neighbour(target, node.value):
                return True
    return any(
        _is_multiplied(value)
        and name in {node.id for node in descendants(value) if isinstance(node, ast.Name)}
        for name, values in assigned.items()
        for value in values
    )


def _is_multiplied(value: ast.expr) -> bool:
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) for node in descendants(value))


def _reads_neighbour(target: ast.Subscript, value: ast.expr) -> bool:
    """`returns[t] = rewards[t] + gamma * returns[t + 1]`."""
    neighbours = [
        node
        for node in descendants(value)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.BinOp)
    ]
    held = ast.dump(target.value) if neighbours else ""
    return any(ast.dump(node.value) == held for node in neighbours)


def _is_tensor(held: ast.expr, model: SemanticModel) -> bool:
    return isinstance(held, (ast.Name, ast.Attribute)) and model.types.type_of(held).tag is TypeTag.TENSOR


def _is_vector(held: ast.expr, model: SemanticModel) -> bool:
    """Is it surely a tensor with one dimension?"""
    if not _is_tensor(held, model):
        return False
    if model.types.type_of(held).rank is not None:
        return model.types.type_of(held).rank == 1
    if not isinstance(held, ast.Name):
        return False
    definitions = model.dataflow.definitions(held)
    return bool(definitions) and all(
        binding.kind is BindingKind.ASSIGN
        and not binding.path
        and binding.value is not None
        and _makes_vector(binding.value, model)
        for binding in definitions
    )


def _makes_vector(value: ast.expr, model: SemanticModel) -> bool:
    """`torch.tensor(rewards)` of a list of numbers, `torch.zeros_like(vector)`."""
    match value:
        case ast.Call(func=func, args=[first, *_]):
            qualified = model.names.qualified(func)
            if qualified in ("torch.zeros_like", "torch.empty_like", "torch.ones_like"):
                return _is_vector(first, model)
            if qualified in _LISTS_OF and model.types.type_of(first).tag is TypeTag.LIST:
                item = model.types.type_of(first).item
                return item is not None and item.tag in (TypeTag.FLOAT, TypeTag.INT, TypeTag.BOOL)
            if isinstance(func, ast.Attribute) and func.attr in ("to", "clone", "detach"):
                return _is_vector(func.value, model) or _makes_vector(func.value, model)
        case ast.Call(func=ast.Attribute(value=held, attr="clone" | "detach" | "cpu" | "float")):
            return _is_vector(held, model) or _makes_vector(held, model)
    return False


def _iterated(iterable: ast.expr, target: ast.expr, model: SemanticModel) -> list[tuple[ast.expr, ast.expr]]:
    """What a loop goes through, itself, reversed or beside others, each with the variable of its items."""
    match iterable:
        case ast.Call(func=func, args=[inner]) if model.names.qualified(func) == "builtins.reversed":
            return _iterated(inner, target, model)
        case ast.Call(func=func, args=[inner]) if model.names.qualified(func) == "builtins.enumerate":
            if isinstance(target, ast.Tuple) and len(target.elts) == 2:
                return _iterated(inner, target.elts[1], model)
        case ast.Call(func=func, args=args) if model.names.qualified(func) == "builtins.zip":
            if isinstance(target, ast.Tuple) and len(target.elts) == len(args):
                pairs = zip(args, target.elts, strict=True)
                return [found for held, item in pairs for found in _iterated(held, item, model)]
        case ast.Call(func=ast.Attribute(value=held, attr="flip")):
            return [(held, target)]
        case ast.Name() | ast.Attribute():
            return [(iterable, target)]
    return []


def _is_number(node: ast.expr, model: SemanticModel) -> bool:
    """Is a tensor used as only a single number can be: as a condition, `float(x)`?"""
    parent = model.parent(node)
    match parent:
        case ast.If(test=test) | ast.IfExp(test=test):
            return test is node
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Call(func=func, args=[only]) if only is node:
            return model.names.qualified(func) in ("builtins.float", "builtins.int", "builtins.bool")
    return False


def _are_numbers(loop: ast.For, held: ast.expr, item: ast.expr, model: SemanticModel) -> bool:
    """Is an item of the tensor that a loop goes through used as a single number?"""
    if not _is_tensor(held, model) or not isinstance(item, ast.Name):
        return False
    return any(
        isinstance(node, ast.Name) and node.id == item.id and _is_number(node, model)
        for statement in loop.body
        for node in descendants(statement)
    )
