"""Sums of all later items, recomputed for each step."""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint.rule import (
    COMPREHENSIONS,
    FUNCTIONS,
    AnyLoop,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    dump_as_read,
    last_name,
    last_names,
    models,
)
from rlint.rules.computation.rl506_scalar_reward_loop.added_items import (
    adds_field_of_item,
    adds_up,
    counter_of,
    is_field_added,
    is_reward,
    is_sum_of,
    only_value,
)

_SUMS = models.having(Trait.SUMS, "builtins", "math", "numpy", "torch")
_METHODS = frozenset({"sum", "dot"})
SUMS = last_names(*_SUMS) | _METHODS
"""Functions that sum, by last name."""
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
        case ast.For(iter=iterable) if adds_up(node):
            return _later(iterable, node, model)
        case ast.While(test=ast.Compare(left=ast.Name() as counter, ops=[ast.Lt()], comparators=[end])):
            return _counted_by_hand(node, counter, end, model) if adds_up(node) else None
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
        case ast.Call(func=func, args=[count]) if model.names.qualified(func) == "builtins.range":
            return _offset_in(node, count, model)
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
            if loop is None or not _is_unchanged(sequence, loop, model):
                return None
            return (sequence, loop) if _is_of_numbers(sequence) or adds_field_of_item(node) else None
        case ast.Name():
            made = only_value(part, model)  # `future = rewards[t:]`
            return _slice_of(made, node, model) if isinstance(made, ast.Subscript) else None
    return None


def _indexed_in(
    node: ast.AST, iterable: ast.Call, loop: AnyLoop, model: SemanticModel
) -> tuple[ast.expr, AnyLoop] | None:
    """Return the sequence that `for k in range(t, n)` reads to its end."""
    end = iterable.args[1]
    counter = counter_of(node)
    if counter is None or not _same_end(end, loop, model):
        return None
    return _read_at(node, loop, lambda index: isinstance(index, ast.Name) and index.id == counter, model)


def _offset_in(node: ast.AST, count: ast.expr, model: SemanticModel) -> tuple[ast.expr, AnyLoop] | None:
    """Return the sequence of which `for k in range(len(rewards) - t)` reads `rewards[t + k]`."""
    made = only_value(count, model) if isinstance(count, ast.Name) else count
    counter = counter_of(node)
    match made:
        case ast.BinOp(left=end, op=ast.Sub(), right=ast.Name() as first) if counter is not None:
            loop = _counting_loop(first, node, model)
        case _:
            return None
    if loop is None or not _same_end(end, loop, model):
        return None
    return _read_at(node, loop, lambda index: is_sum_of(index, first.id, counter), model)


def _counted_by_hand(
    node: ast.While, counter: ast.Name, end: ast.expr, model: SemanticModel
) -> tuple[ast.expr, AnyLoop] | None:
    """Return the sequence that `k = t` and `while k < len(rewards): …; k += 1` read to its end."""
    block, place = model.syntax.block(node)
    for statement in reversed(block[:place]):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name() as first) if name == counter.id:
                loop = _counting_loop(first, node, model)
                if loop is None or not _same_end(end, loop, model):
                    return None
                return _read_at(
                    node, loop, lambda index: isinstance(index, ast.Name) and index.id == counter.id, model
                )
    return None


def _read_at(
    node: ast.AST, loop: AnyLoop, is_place: Callable[[ast.expr], bool], model: SemanticModel
) -> tuple[ast.expr, AnyLoop] | None:
    """Return the sequence of rewards, or of steps with rewards, that a loop reads at a place."""
    for part in descendants(node):
        match part:
            case ast.Subscript(value=sequence, slice=index) if is_place(index):
                of_numbers = _is_of_numbers(sequence) or is_field_added(part, node, model)
                if of_numbers and _is_unchanged(sequence, loop, model):
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


def _is_of_numbers(sequence: ast.expr) -> bool:
    """Whether it is a sequence of rewards or the like, by its name."""
    return isinstance(sequence, (ast.Name, ast.Attribute)) and is_reward(last_name(sequence) or "")


def _is_unchanged(sequence: ast.expr, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether the loop does not modify a sequence."""
    if not isinstance(sequence, (ast.Name, ast.Attribute)):
        return False
    if model.types.type_of(sequence).tag in (TypeTag.STR, TypeTag.DICT):
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
