"""Loop-invariant calls: calls with the same result in each iteration."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import (
    COMPREHENSIONS,
    AnyLoop,
    Heat,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    frozen,
    hoist_points,
    models,
    trip_count,
)
from rlint.rules.computation._shared import worth
from rlint.rules.computation.rl501_duplicate_extract_call.converted import are_only_read, converts_whole
from rlint.rules.computation.rl501_duplicate_extract_call.whole_copies import is_copied_for_part

_FEW = 5
"""A loop of fewer iterations saves little."""
_MOST_DOUBTS = 0
_MOST_APPLIED = 1
_LAZY = models.having(Trait.PAIRS_ITEMS | Trait.CALLS_BACK, "builtins")
_CONSUME = models.having(Trait.ITERATES, "builtins") - _LAZY
"""Functions that evaluate a generator at once: `sum(x / np.mean(xs) for x in xs)`."""
_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
MINOR_NUMBER = "computes a number, which takes less than a microsecond per iteration"
_LIBRARIES = ("numpy.", "torch.", "scipy.")
_WHOLE = models.having(Trait.SAME_ITEMS, "builtins") & {"builtins.sorted"} | {"builtins.sum"}


@frozen
class Invariant:
    """A loop of which every iteration evaluates a call with the same arguments, given that the functions that
    `applied` calls do not modify them, or that no call of the loop modifies `reads`.
    """

    loop: AnyLoop
    applied: ast.Call | None = None
    reads: ast.expr | None = None


def invariant_in(call: ast.Call, model: SemanticModel) -> Invariant | None:
    """Return the innermost loop, one that only computes, of which every iteration evaluates a call with the
    same arguments; None if there is none.
    """
    loops = model.frequency.loops(call)
    loop = loops[0] if loops else None
    if not isinstance(loop, (ast.For, ast.While, *COMPREHENSIONS)) or not _counts(call, model):
        return None
    if model.frequency.heat_of(call).level is not Heat.HOT:
        return None
    if model.frequency.driving_loop(call) is loop and not converts_whole(call, model):
        return None
    passes = trip_count.passes(loop, model)
    if (passes is not None and passes < _FEW) or not hoist_points.is_reached(call, loop, model):
        return None
    if isinstance(loop, COMPREHENSIONS) and (
        _depends_on_item(call, loop, model) or _is_lazy(loop, model) or not _is_operand(call, model)
    ):
        return None
    if not _names_variable(call, model):
        return None
    if is_of_numbers(call, model):
        return Invariant(loop) if _is_first_of_numbers(call, loop, model) else None
    if not worth.is_worth_keeping(call, model) and not is_copied_for_part(call, model):
        return None
    if converts_whole(call, model) and are_only_read(call.args[0], descendants(loop), model):
        return Invariant(loop, reads=call.args[0])
    doubts = model.dataflow.doubts_within(call, _parts(loop, call))
    if doubts is None or len(doubts) > _MOST_APPLIED:
        return None
    applied = [doubt for doubt in doubts if isinstance(doubt, ast.Call) and _applies_item(doubt, loop, model)]
    return Invariant(loop, *applied) if len(applied) == len(doubts) else None


def is_of_numbers(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call computes a number from numbers: `math.sqrt(self.visits)`."""
    return (model.names.qualified(call.func) or "").startswith("math.")


def _is_first_of_numbers(call: ast.Call, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether a call with numbers is the first one in a comprehension, which the others are reported with."""
    if not isinstance(loop, COMPREHENSIONS) or model.dataflow.doubts_within(call, _parts(loop, call)) != ():
        return False
    if not model.effects.is_repeatable(call):
        return False
    before = (node for node in descendants(loop) if isinstance(node, ast.Call) and is_of_numbers(node, model))
    return not any(
        (node.lineno, node.col_offset) < (call.lineno, call.col_offset)
        and not _depends_on_item(node, loop, model)
        for node in before
    )


def _depends_on_item(call: ast.Call, loop: ast.expr, model: SemanticModel) -> bool:
    """Whether a call reads a variable that a comprehension, or an expression in it, binds."""
    bound = model.once(_bound_in, loop)
    return any(isinstance(node, ast.Name) and node.id in bound for node in descendants(call))


def _bound_in(loop: ast.expr, _: SemanticModel) -> frozenset[str]:
    return frozenset(
        node.id
        for node in descendants(loop)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    )


def _is_operand(call: ast.Call, model: SemanticModel) -> bool:
    """Whether an item is computed from the result of a call, which does not become part of the item itself:
    `{name: torch.zeros(n) for name in names}` needs a tensor for each name.
    """
    match model.parent(call):
        case ast.BinOp() | ast.Compare() | ast.UnaryOp() | ast.Subscript():
            return True
        case ast.Call(func=func, args=args) if call in args:
            return model.names.qualified(func) is not None and not model.types.call_targets(call)
    return False


def _is_lazy(loop: ast.expr, model: SemanticModel) -> bool:
    """Whether a generator expression may be evaluated later, when its variables have other values."""
    match model.parent(loop):
        case ast.Call(func=func) if isinstance(loop, ast.GeneratorExp):
            return model.names.qualified(func) not in _CONSUME
    return isinstance(loop, ast.GeneratorExp)


def _applies_item(call: ast.Call, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether a call applies an item of the loop, such as one of several networks, to values, and its result
    is used.
    """
    match call.func:
        case ast.Name(id=name) if isinstance(loop, ast.For) and not isinstance(model.parent(call), ast.Expr):
            return any(isinstance(node, ast.Name) and node.id == name for node in descendants(loop.target))
    return False


def assumption_of(invariant: Invariant, model: SemanticModel) -> str | None:
    """Return the assumption under which a call has the same result in each iteration."""
    if invariant.applied is not None:
        return f"`{model.source.text(invariant.applied.func)}` does not modify the arguments"
    if invariant.reads is not None:
        return f"no call in the loop modifies `{model.source.text(invariant.reads)}`"
    return None


def is_part_of_invariant(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a larger call around this one has the same result in each iteration as well."""
    for parent in model.ancestors(call):
        if isinstance(parent, ast.stmt):
            return False
        if isinstance(parent, ast.Call) and invariant_in(parent, model) is not None:
            return True
    return False


def is_same_within(call: ast.Call, parts: Sequence[ast.AST], model: SemanticModel) -> bool:
    """Whether no code in some parts of a function changes the result of a call."""
    doubts = model.dataflow.doubts_within(call, parts)
    return doubts is not None and len(doubts) <= _MOST_DOUBTS


def _parts(loop: AnyLoop, call: ast.Call) -> list[ast.AST]:
    if isinstance(loop, COMPREHENSIONS):
        items = [loop.key, loop.value] if isinstance(loop, ast.DictComp) else [loop.elt]
        conditions = [part for each in loop.generators for part in each.ifs]
        return [*(each.target for each in loop.generators), *conditions, *items]
    head = [loop.test] if isinstance(loop, ast.While) else [loop.target]
    return [part for part in (*head, *loop.body) if part is not call]


def _counts(call: ast.Call, model: SemanticModel) -> bool:
    """Whether this is a call of numpy or torch, of an array's method, or of a function of the project."""
    qualified = model.names.qualified(call.func)
    if qualified is not None:
        is_known = qualified.startswith(_LIBRARIES) or qualified in _WHOLE or is_of_numbers(call, model)
        is_known = is_known or is_copied_for_part(call, model)
        return is_known or bool(model.types.call_targets(call))
    if isinstance(call.func, ast.Attribute) and model.types.type_of(call.func.value).tag in _ARRAYS:
        return True
    return bool(model.types.call_targets(call))


def _names_variable(call: ast.Call, model: SemanticModel) -> bool:
    """Whether an argument of the call is not a constant; constant ones belong to another rule."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if isinstance(call.func, ast.Attribute):
        given.append(call.func.value)
    return any(
        isinstance(node, ast.Name) and model.names.qualified(node) is None
        for part in given
        for node in descendants(part)
    )
