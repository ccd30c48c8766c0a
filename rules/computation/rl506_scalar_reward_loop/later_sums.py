"""Sums of all later items, recomputed for each step."""

from __future__ import annotations

import ast
import re

from rlint.rule import (
    COMPREHENSIONS,
    FUNCTIONS,
    LOOPS,
    AnyLoop,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    dump_as_read,
    last_names,
    models,
    regex,
)

_SUMS = models.having(Trait.SUMS, "builtins", "math", "numpy", "torch")
_METHODS = frozenset({"sum", "dot"})
SUMS = last_names(*_SUMS) | _METHODS
"""Functions that sum, by last name."""
_REWARD = regex(r"(^|_)(r|rs|rews?|rewards?|deltas?|returns?|costs?|td_errors?)(_|$)", re.IGNORECASE)
_NUMBERED = frozenset({"builtins.range", "builtins.enumerate"})


def summed_later(node: ast.AST, model: SemanticModel) -> tuple[ast.expr, AnyLoop] | None:
    """Return the sequence whose items from the current one on are added up by a sum or a loop, and the loop
    that repeats this for each step.
    """
    match node:
        case ast.Call(func=func, args=[first, *others]) if model.names.qualified(func) in _SUMS:
            for summed in (first, *others[:1]):
                found = _later_in(summed, model)
                if found is not None:
                    return found
        case ast.Call(func=ast.Attribute(value=summed, attr="sum" | "dot")):
            return _later_in(summed, model)
        case ast.For(iter=iterable) if _adds_up(node):
            return _later(iterable, node, model)
    return None


def _later_in(summed: ast.expr, model: SemanticModel) -> tuple[ast.expr, AnyLoop] | None:
    """Return the later items in a sum: `rewards[t:]`, `discounts * rewards[t:]`, `gamma**k * r for k, r in
    …`.
    """
    if isinstance(summed, (ast.ListComp, ast.GeneratorExp)):
        if len(summed.generators) != 1 or summed.generators[0].ifs:
            return None
        return _later(summed.generators[0].iter, summed, model)
    for part in _factors(summed):
        found = _slice_of(part, summed, model)
        if found is not None:
            return found
    return None


def _factors(product: ast.expr) -> list[ast.expr]:
    if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
        return [*_factors(product.left), *_factors(product.right)]
    return [product]


def _later(iterable: ast.expr, node: ast.AST, model: SemanticModel) -> tuple[ast.expr, AnyLoop] | None:
    """Return the sequence of `rewards[t:]`, possibly in `enumerate` or `zip`; or of `range(t, n)` with
    `rewards[k]` in the loop.
    """
    match iterable:
        case ast.Call(func=func, args=[ast.Name() as first, _]) if (
            model.names.qualified(func) == "builtins.range"
        ):
            loop = _counting_loop(first, node, model)
            if loop is None:
                return None
            return _indexed_in(node, iterable, loop, model)
        case ast.Call(func=func, args=args):
            if model.names.qualified(func) in ("builtins.enumerate", "builtins.zip"):
                for argument in args:
                    found = _slice_of(argument, node, model)
                    if found is not None:
                        return found
            return None
    return _slice_of(iterable, node, model)


def _slice_of(part: ast.expr, node: ast.AST, model: SemanticModel) -> tuple[ast.expr, AnyLoop] | None:
    """Return the sequence of numbers in `rewards[t:]` or `rewards[t + 1:]`."""
    match part:
        case ast.Subscript(value=sequence, slice=ast.Slice(lower=lower, upper=None, step=None)):
            match lower:
                case ast.BinOp(left=ast.Name() as first, op=ast.Add(), right=ast.Constant()):
                    pass
                case ast.Name() as first:
                    pass
                case _:
                    return None
            loop = _counting_loop(first, node, model)
            return (sequence, loop) if loop is not None and _is_of_numbers(sequence, loop, model) else None
    return None


def _indexed_in(
    node: ast.AST, iterable: ast.Call, loop: AnyLoop, model: SemanticModel
) -> tuple[ast.expr, AnyLoop] | None:
    """Return the sequence that `for k in range(t, n)` reads to its end."""
    end = iterable.args[1]
    match node:
        case ast.For(target=ast.Name(id=counter)):
            pass
        case ast.ListComp(generators=[generator]) | ast.GeneratorExp(generators=[generator]):
            if not isinstance(generator.target, ast.Name):
                return None
            counter = generator.target.id
        case _:
            return None
    if not _same_end(end, loop, model):
        return None
    for part in descendants(node):
        match part:
            case ast.Subscript(value=sequence, slice=ast.Name(id=name)) if name == counter:
                if _is_of_numbers(sequence, loop, model):
                    return sequence, loop
    return None


def _same_end(end: ast.expr, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether the outer loop counts to the same end."""
    iterable = _iterable(loop)
    match iterable:
        case ast.Call(func=func, args=args) if model.names.qualified(func) == "builtins.range" and args:
            return ast.dump(args[1] if len(args) > 1 else args[0]) == ast.dump(end)
        case ast.Call(func=func, args=[sequence, *_]) if model.names.qualified(func) == "builtins.enumerate":
            return model.source.text(end) == f"len({model.source.text(sequence)})"
    return False


def _counting_loop(counter: ast.Name, node: ast.AST, model: SemanticModel) -> AnyLoop | None:
    """Return the enclosing loop that counts its iterations in `counter`: `for t in range(n)`, `for t, r in
    enumerate(rewards)`.
    """
    for ancestor in model.ancestors(node):
        if isinstance(ancestor, (*FUNCTIONS, ast.Lambda)):
            return None
        if isinstance(ancestor, (ast.For, *COMPREHENSIONS)):
            iterable = _iterable(ancestor)
            target = ancestor.target if isinstance(ancestor, ast.For) else ancestor.generators[0].target
            match iterable:
                case ast.Call(func=func) if model.names.qualified(func) in _NUMBERED:
                    if isinstance(target, ast.Tuple) and target.elts:
                        target = target.elts[0]
                    if isinstance(target, ast.Name) and target.id == counter.id:
                        return ancestor
                case ast.Call(func=func, args=[ast.Call(func=inner)]):
                    is_turned = model.names.qualified(func) == "builtins.reversed"
                    is_counter = isinstance(target, ast.Name) and target.id == counter.id
                    if is_turned and is_counter and model.names.qualified(inner) in _NUMBERED:
                        return ancestor
    return None


def _iterable(loop: AnyLoop) -> ast.expr | None:
    if isinstance(loop, ast.While):
        return None
    return loop.iter if isinstance(loop, (ast.For, ast.AsyncFor)) else loop.generators[0].iter


def _is_of_numbers(sequence: ast.expr, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether it is a sequence of rewards or the like, which the loop does not modify."""
    if not isinstance(sequence, (ast.Name, ast.Attribute)):
        return False
    name = sequence.id if isinstance(sequence, ast.Name) else sequence.attr
    kind = model.types.type_of(sequence)
    if not _REWARD.search(name) or kind.tag in (TypeTag.STR, TypeTag.DICT):
        return False
    shape = ast.dump(sequence)
    for part in descendants(loop):
        match part:
            case ast.Call(func=ast.Attribute(value=changed)) if ast.dump(changed) == shape:
                if not model.effects.call_effect(part).quiet:
                    return False
            case ast.Assign(targets=targets) if any(_stores(target, shape) for target in targets):
                return False
    return True


def _stores(target: ast.expr, shape: str) -> bool:
    held = target.value if isinstance(target, ast.Subscript) else target
    return dump_as_read(held) == shape


def _adds_up(loop: ast.For) -> bool:
    """Whether each iteration of a loop only adds to a variable, and counts."""
    adds = False
    for statement in loop.body:
        match statement:
            case ast.AugAssign(target=ast.Name(), op=ast.Add() | ast.Mult()):
                adds = adds or isinstance(statement.op, ast.Add)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(left=ast.Name(id=left), op=op)):
                if name != left or not isinstance(op, (ast.Add, ast.Mult)):
                    return False
                adds = adds or isinstance(op, ast.Add)
            case ast.Expr(value=ast.Constant()):
                pass
            case _:
                return False
    return adds and not any(
        isinstance(part, LOOPS) for statement in loop.body for part in descendants(statement)
    )
