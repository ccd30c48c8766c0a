"""Loops, comprehensions and `map` calls that count their iterations in a variable."""

from __future__ import annotations

import ast

from rlint.rule import (
    COMPREHENSIONS,
    FUNCTIONS,
    AnyLoop,
    SemanticModel,
    counted_by_hand,
    descendants,
    variable_names,
)

_TAKES = frozenset({"pop", "popleft"})
_NUMBERED = frozenset({"builtins.range", "builtins.enumerate"})


def counting_loop(counter: ast.Name, node: ast.AST, model: SemanticModel) -> AnyLoop | ast.Call | None:
    """Return the enclosing loop that counts its iterations in `counter`: `for t in range(n)`, `for t, r in
    enumerate(rewards)`, `map(lambda t: …, range(n))`, or a `while` loop that ends with `t += 1`.
    """
    for ancestor in model.ancestors(node):
        if isinstance(ancestor, FUNCTIONS):
            return None
        if isinstance(ancestor, ast.Lambda):
            return _mapped(ancestor, counter, model)
        if isinstance(ancestor, ast.While) and counter.id in counted_by_hand(ancestor):
            return ancestor
        if isinstance(ancestor, (ast.For, *COMPREHENSIONS)):
            target = ancestor.target if isinstance(ancestor, ast.For) else ancestor.generators[0].target
            if isinstance(target, ast.Tuple) and target.elts:
                target = target.elts[0]
            is_counter = isinstance(target, ast.Name) and target.id == counter.id
            if is_counter and _is_numbered(iterable_of(ancestor), model):
                return ancestor
    return None


def iterable_of(loop: AnyLoop | ast.Call) -> ast.expr | None:
    """Return what a loop, comprehension or `map` with one iterable iterates over."""
    if isinstance(loop, ast.While):
        return None
    if isinstance(loop, ast.Call):
        return loop.args[1]
    return loop.iter if isinstance(loop, (ast.For, ast.AsyncFor)) else loop.generators[0].iter


def _is_numbered(iterable: ast.expr | None, model: SemanticModel) -> bool:
    """Whether items are numbered one after the other, also backwards."""
    match iterable:
        case ast.Call(func=func, args=[inner]) if model.names.qualified(func) == "builtins.reversed":
            return _is_numbered(inner, model)
        case ast.Call(func=func):
            return model.names.qualified(func) in _NUMBERED
    return False


def takes_items(loop: ast.While) -> bool:
    """Whether a loop takes one item after the other out of what its condition tests: `while steps:`, and
    `step = steps.pop()`.
    """
    tested = variable_names(loop.test)
    for statement in loop.body:
        for node in descendants(statement):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in _TAKES:
                    if name in tested:
                        return True
    return False


def _mapped(function: ast.Lambda, counter: ast.Name, model: SemanticModel) -> ast.Call | None:
    match model.parent(function):
        case ast.Call(func=func, args=[called, iterable]) as call if called is function:
            is_map = model.names.qualified(func) == "builtins.map" and _is_numbered(iterable, model)
            counts = [each.arg for each in function.args.args] == [counter.id]
            return call if is_map and counts else None
    return None
