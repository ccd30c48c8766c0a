"""Sums of all later or earlier items, recomputed for each step."""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint.rule import (
    AnyLoop,
    SemanticModel,
    Trait,
    TypeTag,
    axes_of,
    descendants,
    dump_as_read,
    last_name,
    last_names,
    models,
    same_code,
)
from rlint.rules.computation.rl506_scalar_reward_loop.added_items import (
    adds_field_of_item,
    adds_up,
    counter_of,
    is_discounted,
    is_field_added,
    is_reward,
    is_sum_of,
    only_value,
)
from rlint.rules.computation.rl506_scalar_reward_loop.counting_loops import counting_loop, iterable_of
from rlint.rules.computation.rl506_scalar_reward_loop.dropped_items import summed_rest

_SUMS = models.having(Trait.SUMS, "builtins", "math", "numpy", "torch")
_METHODS = frozenset({"sum", "dot"})
SUMS = last_names(*_SUMS) | _METHODS | {"reduce"}
"""Functions that sum, by last name."""
_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_CONVERTS = models.having(Trait.FROM_DATA, "numpy", "torch")
_WRAPS = models.having(Trait.SAME_ITEMS | Trait.PAIRS_ITEMS, "builtins")
_NESTED = 3
"""Maximum number of variables through which the summed items are followed."""


def summed_later(node: ast.AST, model: SemanticModel) -> tuple[ast.expr, AnyLoop | ast.Call] | None:
    """Return the sequence whose items from the current one on, or up to it, are added up by a sum or a loop,
    and the loop that repeats this for each step.
    """
    match node:
        case ast.Call(func=func, args=[first, *others]) if model.names.qualified(func) in _SUMS:
            for summed in (first, *others[:1]):
                found = _later_in(summed, node, model) or summed_rest(summed, node, model)
                if found is not None:
                    return found
        case ast.Call(func=func, args=[ast.Lambda(), summed, *_]) if (
            model.names.qualified(func) == "functools.reduce"
        ):
            return _later(summed, node, model)
        case ast.Call(func=ast.Attribute(value=summed, attr="sum" | "dot"), args=given):
            found = _later_in(summed, node, model)
            return found or (_later_in(given[0], node, model) if given else None)
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            return _later_in(left, node, model) or _later_in(right, node, model)
        case ast.For(iter=iterable) if adds_up(node):
            return _later(iterable, node, model)
        case ast.While(test=ast.Compare(left=ast.Name() as counter, ops=[ast.Lt()], comparators=[end])):
            return _counted_by_hand(node, counter, end, model) if adds_up(node) else None
    return None


def adds_earlier(node: ast.AST, sequence: ast.expr, model: SemanticModel) -> bool:
    """Whether a sum adds up the items up to the current one: `rewards[: t + 1]`, `range(t + 1)`."""
    for part in descendants(node):
        match part:
            case ast.Subscript(value=held, slice=ast.Slice(lower=None, upper=ast.expr())):
                if same_code(held, sequence):
                    return True
            case ast.Call(func=ast.Name(id="range"), args=[count]):
                made = only_value(count, model)
                return not isinstance(count if made is None else made, ast.BinOp) or _adds(count)
    return False


def _adds(count: ast.expr) -> bool:
    return isinstance(count, ast.BinOp) and isinstance(count.op, ast.Add)


def _later_in(
    summed: ast.expr, node: ast.AST, model: SemanticModel
) -> tuple[ast.expr, AnyLoop | ast.Call] | None:
    """Return the later items in a sum: `rewards[t:]`, `discounts * rewards[t:]`, `gamma**k * r for k, r in
    …`, `map(lambda k: gamma**k * rewards[k], range(t, n))`.
    """
    if isinstance(summed, (ast.ListComp, ast.GeneratorExp)):
        if len(summed.generators) != 1 or summed.generators[0].ifs:
            return None
        return _later(summed.generators[0].iter, summed, model)
    match summed:
        case ast.Call(func=func, args=[ast.Lambda(), iterable]) if (
            model.names.qualified(func) == "builtins.map"
        ):
            return _later(iterable, summed, model)
        case ast.Call(func=func) if model.names.qualified(func) == "itertools.islice":
            return _later(summed, node, model)
    for part in _factors(summed, model):
        found = _slice_of(part, node, model)
        if found is not None:
            return found
    return None


def _factors(product: ast.expr, model: SemanticModel) -> list[ast.expr]:
    match product:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return [*_factors(left, model), *_factors(right, model)]
        case ast.Call(func=func, args=[inner, *_]) if model.names.qualified(func) in _CONVERTS:
            return _factors(inner, model)
    return [product]


def _later(
    iterable: ast.expr, node: ast.AST, model: SemanticModel
) -> tuple[ast.expr, AnyLoop | ast.Call] | None:
    """Return the sequence of `rewards[t:]`, possibly in `enumerate`, `zip` or `reversed`; or of `range(t, n)`
    with `rewards[k]` in the loop.
    """
    match iterable:
        case ast.Call(func=func, args=[ast.Name() as first, _]) if (
            model.names.qualified(func) == "builtins.range"
        ):
            loop = counting_loop(first, node, model)
            if loop is None:
                return None
            return _indexed_in(node, iterable, loop, model)
        case ast.Call(func=func, args=[count]) if model.names.qualified(func) == "builtins.range":
            return _offset_in(node, count, model) or _earlier_in(node, count, model)
        case ast.Call(func=func, args=[sequence, ast.Name() as first, ast.Constant(value=None)]) if (
            model.names.qualified(func) == "itertools.islice"
        ):
            return _repeated(sequence, first, node, model)
        case ast.Call(func=func, args=args):
            if model.names.qualified(func) in _WRAPS:
                for argument in args:
                    found = _later(argument, node, model)
                    if found is not None:
                        return found
            return None
    return _slice_of(iterable, node, model)


def _slice_of(
    part: ast.expr, node: ast.AST, model: SemanticModel, depth: int = _NESTED
) -> tuple[ast.expr, AnyLoop | ast.Call] | None:
    """Return the sequence of numbers in `rewards[t:]`, `rewards[t + 1:]`, `rewards[t:][::-1]`, or
    `rewards[: t + 1]`.
    """
    match part:
        case ast.Subscript(
            value=inner, slice=ast.Slice(lower=None, upper=None, step=ast.UnaryOp(op=ast.USub()))
        ):
            return _slice_of(inner, node, model, depth)
        case ast.Subscript(
            value=sequence,
            slice=ast.Slice(lower=ast.expr() as end, upper=None, step=None)
            | ast.Slice(lower=None, upper=ast.expr() as end, step=None),
        ):
            match end:
                case ast.BinOp(left=ast.Name() as first, op=ast.Add(), right=ast.Constant()):
                    pass
                case ast.Name() as first:
                    pass
                case _:
                    return None
            return _repeated(sequence, first, node, model)
        case ast.Name() if depth:
            made = only_value(part, model)  # `future = rewards[t:]`
            for each in _factors(made, model) if made is not None and not isinstance(made, ast.Name) else []:
                found = _slice_of(each, node, model, depth - 1)
                if found is not None:
                    return found
    return None


def _repeated(
    sequence: ast.expr, first: ast.Name, node: ast.AST, model: SemanticModel
) -> tuple[ast.expr, AnyLoop | ast.Call] | None:
    """Return a summed sequence and the loop that counts the place from which it is summed."""
    loop = counting_loop(first, node, model)
    if loop is None or not _is_unchanged(sequence, loop, model):
        return None
    adds = _is_of_numbers(sequence) or adds_field_of_item(node)
    return (sequence, loop) if adds or _adds_array(sequence, node, model) else None


def _adds_array(sequence: ast.expr, node: ast.AST, model: SemanticModel) -> bool:
    """Whether a call adds up the elements of an array, or the products of a sequence and discounts."""
    if not isinstance(node, (ast.Call, ast.BinOp)):
        return False
    if model.types.type_of(sequence).tag in _ARRAYS:
        return True
    given = [node, *(made for name in _names_in(node) if (made := only_value(name, model)) is not None)]
    return any(map(is_discounted, given))


def _names_in(node: ast.AST) -> list[ast.Name]:
    return [part for part in descendants(node) if isinstance(part, ast.Name)]


def _indexed_in(
    node: ast.AST, iterable: ast.Call, loop: AnyLoop | ast.Call, model: SemanticModel
) -> tuple[ast.expr, AnyLoop | ast.Call] | None:
    """Return the sequence that `for k in range(t, n)` reads to its end."""
    end = iterable.args[1]
    counter = counter_of(node)
    if counter is None or not _same_end(end, loop, model):
        return None
    return _read_at(node, loop, lambda index: isinstance(index, ast.Name) and index.id == counter, model)


def _offset_in(
    node: ast.AST, count: ast.expr, model: SemanticModel
) -> tuple[ast.expr, AnyLoop | ast.Call] | None:
    """Return the sequence of which `for k in range(len(rewards) - t)` reads `rewards[t + k]`."""
    made = only_value(count, model) if isinstance(count, ast.Name) else count
    counter = counter_of(node)
    match made:
        case ast.BinOp(left=end, op=ast.Sub(), right=ast.Name() as first) if counter is not None:
            loop = counting_loop(first, node, model)
        case _:
            return None
    if loop is None or not _same_end(end, loop, model):
        return None
    return _read_at(node, loop, lambda index: is_sum_of(index, first.id, counter), model)


def _earlier_in(
    node: ast.AST, count: ast.expr, model: SemanticModel
) -> tuple[ast.expr, AnyLoop | ast.Call] | None:
    """Return the sequence of which `for k in range(t + 1)` reads the items up to the current one."""
    match count:
        case ast.BinOp(left=ast.Name() as last, op=ast.Add(), right=ast.Constant()) | (ast.Name() as last):
            loop = counting_loop(last, node, model)
        case _:
            return None
    counter = counter_of(node)
    if loop is None or counter is None:
        return None
    return _read_at(node, loop, lambda index: isinstance(index, ast.Name) and index.id == counter, model)


def _counted_by_hand(
    node: ast.While, counter: ast.Name, end: ast.expr, model: SemanticModel
) -> tuple[ast.expr, AnyLoop | ast.Call] | None:
    """Return the sequence that `k = t` and `while k < len(rewards): …; k += 1` read to its end."""
    block, place = model.syntax.block(node)
    for statement in reversed(block[:place]):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name() as first) if name == counter.id:
                loop = counting_loop(first, node, model)
                if loop is None or not _same_end(end, loop, model):
                    return None
                return _read_at(
                    node, loop, lambda index: isinstance(index, ast.Name) and index.id == counter.id, model
                )
    return None


def _read_at(
    node: ast.AST, loop: AnyLoop | ast.Call, is_place: Callable[[ast.expr], bool], model: SemanticModel
) -> tuple[ast.expr, AnyLoop | ast.Call] | None:
    """Return the sequence of rewards, or of steps with rewards, that a loop reads at a place."""
    for part in descendants(node):
        match part:
            case ast.Subscript(value=sequence, slice=index) if any(map(is_place, axes_of(index))):
                of_numbers = _is_of_numbers(sequence) or is_field_added(part, node, model)
                if of_numbers and _is_unchanged(sequence, loop, model):
                    return sequence, loop
    return None


def _same_end(end: ast.expr, loop: AnyLoop | ast.Call, model: SemanticModel) -> bool:
    """Whether the outer loop counts to the same end."""
    iterable = iterable_of(loop)
    match iterable:
        case ast.Call(func=func, args=args) if model.names.qualified(func) == "builtins.range" and args:
            return ast.dump(args[1] if len(args) > 1 else args[0]) == ast.dump(end)
        case ast.Call(func=func, args=[sequence, *_]) if model.names.qualified(func) == "builtins.enumerate":
            return model.source.text(end) == f"len({model.source.text(sequence)})"
    return False


def _is_of_numbers(sequence: ast.expr) -> bool:
    """Whether it is a sequence of rewards or the like, by its name."""
    return isinstance(sequence, (ast.Name, ast.Attribute)) and is_reward(last_name(sequence) or "")


def _is_unchanged(sequence: ast.expr, loop: AnyLoop | ast.Call, model: SemanticModel) -> bool:
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
