"""Whether the place before a loop always runs when a node in the loop does, with nothing in between."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlint import models
from rlint.models.trait import Trait
from rlint.semantics.frequency.loops import AnyLoop
from rlint.syntax.scopes import BindingKind
from rlint.syntax.walk import descendants

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

_AS_LONG = models.having(Trait.SAME_ITEMS | Trait.PAIRS_ITEMS, "builtins") - {
    "builtins.iter",
    "builtins.sorted",
}
"""These calls return a non-empty result for non-empty arguments, and never raise for them."""
_LEAVES = (ast.Break, ast.Continue, ast.Raise, ast.Return)
_CANNOT_FAIL = (ast.Name, ast.Constant, ast.Tuple, ast.List, ast.expr_context)


def may_move_before(node: ast.expr, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether the loop-invariant `node` may be evaluated just before a loop (or the statement of a
    comprehension) though it may fail: only if the first iteration always happens, evaluates it, and has no
    side effect and cannot fail before that.
    """
    return surely_runs(loop, model) and is_reached(node, loop, model) and _comes_first(node, loop, model)


def surely_runs(loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether constants show that a loop runs at least one iteration."""
    if isinstance(loop, ast.While):
        return isinstance(loop.test, ast.Constant) and bool(loop.test.value)
    if isinstance(loop, ast.For):
        return _has_items(loop.iter, model)
    return not isinstance(loop, ast.AsyncFor) and _has_items(loop.generators[0].iter, model)


def is_reached(node: ast.expr, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether the first iteration of a loop, if there is one, always evaluates `node`."""
    if not isinstance(loop, ast.stmt):
        part = loop.key if isinstance(loop, ast.DictComp) else loop.elt
        first = loop.generators[0].ifs[:1] or [part]
        if len(loop.generators) > 1 or node not in descendants(first[0]):
            return False
        return model.dataflow.order.always_within(node, first[0])
    statement = model.syntax.statement(node)
    if statement is loop:
        return isinstance(loop, ast.While) and model.dataflow.order.always_within(node, loop.test)
    if model.parent(statement) is not loop or not model.dataflow.order.always_within(node, statement):
        return False
    block, index = model.syntax.block(statement)
    return not any(isinstance(part, _LEAVES) for before in block[:index] for part in descendants(before))


def _has_items(iterable: ast.expr, model: SemanticModel) -> bool:
    match iterable:
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            return any(not isinstance(item, ast.Starred) for item in items)
        case ast.Constant(value=str() | bytes() as text):
            return bool(text)
        case ast.Dict(keys=keys):
            return any(key is not None for key in keys)
        case ast.Name():
            bindings = model.names.bindings(iterable)
            if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or bindings[0].path:
                return False
            value = bindings[0].value  # a tuple is the only display that cannot be emptied
            return isinstance(value, (ast.Tuple, ast.Constant)) and _has_items(value, model)
        case ast.Call(func=func, args=arguments, keywords=[]) if arguments:
            qualified = model.names.qualified(func)
            if qualified == "builtins.range":
                ends = [argument.value for argument in arguments if isinstance(argument, ast.Constant)]
                numbers = [end for end in ends if type(end) is int]
                return len(numbers) == len(arguments) < 4 and 0 not in numbers[2:] and bool(range(*numbers))
            return qualified in _AS_LONG and all(_has_items(argument, model) for argument in arguments)
    return False


def _comes_first(node: ast.expr, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether nothing between the place before the loop and `node` has side effects or can fail."""
    parts: list[ast.AST] = []
    if isinstance(loop, ast.stmt):
        within = model.syntax.statement(node)
        if within is not loop:
            block, index = model.syntax.block(within)
            if not all(_binds_plainly(before) for before in block[:index]):
                return False
        parts += model.dataflow.order.earlier(node, within)
        binds = [loop.target] if isinstance(loop, ast.For) else []
    else:
        way = {node, *model.ancestors(node)}
        every = (*loop.generators[0].ifs, loop.key if isinstance(loop, ast.DictComp) else loop.elt)
        part = next(part for part in every if part in way)
        parts += [
            *model.dataflow.order.earlier(loop, model.syntax.statement(loop)),
            *model.dataflow.order.earlier(node, part),
        ]
        binds = [loop.generators[0].target]
    plain = all(isinstance(inner, _CANNOT_FAIL) for part in parts for inner in descendants(part))
    return plain and all(isinstance(target, ast.Name) for target in binds)


def _binds_plainly(statement: ast.stmt) -> bool:
    """Whether an expression is `found = False`."""
    match statement:
        case ast.Assign(targets=[ast.Name()], value=value):
            return all(isinstance(inner, _CANNOT_FAIL) for inner in descendants(value))
    return isinstance(statement, ast.Pass)
