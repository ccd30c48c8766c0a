"""Draws of a loop that collects a sample: one number for each stratum, or one place for each item."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, descendants, frozen, models, trip_count
from rlint.rules.computation._shared.draw_uses import (
    DrawingLoop,
    calls_in_each_iteration,
    changes_owner,
    is_counted,
    is_looked_up,
)
from rlint.rules.computation._shared.scalar_draws import draw_of

_FEW = 5
_JOINS = models.having(Trait.FROM_DATA, "numpy", "torch")
_UNIFORM = frozenset({"numpy.random.uniform", "random.random", "random.uniform"})
_OF_NUMBERS = models.having(Trait.OF_NUMBERS, "builtins")
_PARTS = (
    ast.Attribute, ast.BinOp, ast.Constant, ast.Name, ast.Subscript, ast.UnaryOp, ast.expr_context,
    ast.operator, ast.unaryop,
)  # fmt: skip
_LEAVES = (ast.Break, ast.Return, ast.Yield, ast.YieldFrom, ast.Await)


@frozen
class StratifiedDraw:
    """A call that draws one number in each iteration, with arguments that arithmetic determines. `varies`
    says that they depend on the item.
    """

    call: ast.Call
    varies: bool


def drawn_among_others(loop: DrawingLoop, model: SemanticModel) -> StratifiedDraw | None:
    """Return the draw of a loop that collects a sample: `for i in range(n): value =
    np.random.uniform(width * i, width * (i + 1)); ...`, or one whose result selects an item, directly
    (`np.random.randint(count)`) or by a search (`tree.find(np.random.uniform(0.0, total))`).
    """
    if not is_counted(loop, model) or is_short(loop, model) or model.frequency.drivers(loop, iteration=True):
        return None
    if any(isinstance(node, _LEAVES) for node in descendants(loop)):
        return None
    for part in [loop.elt] if isinstance(loop, ast.ListComp) else loop.body:
        for call in calls_in_each_iteration(part):
            if part is call and isinstance(loop, ast.ListComp):
                continue
            draw = draw_of(call, model)
            if draw is None or draw.listed or model.frequency.driving_loop(call) is loop:
                continue
            varies = _varies(draw.arguments, loop, model)
            if varies is None or changes_owner(call, draw.arguments, loop, model):
                continue
            if not draw.whole if varies else is_looked_up(call, loop, model):
                return StratifiedDraw(call, varies)
    return None


def is_drawn_per_iteration(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a loop around a call draws with it one number in each iteration of the collected sample."""
    loops = model.frequency.loops(call)
    if not loops or not isinstance(loops[0], (ast.For, ast.While, ast.ListComp)):
        return False
    found = model.once(drawn_among_others, loops[0])
    return found is not None and found.call is call


def drawn_for_array(made: ast.ListComp, model: SemanticModel) -> StratifiedDraw | None:
    """Return the draw of `np.array([random.uniform(low, high) * total for low, high in strata])`, also if a
    variable holds the list before it becomes an array.
    """
    match made.generators:
        case [ast.comprehension(iter=ast.Name() | ast.Attribute() | ast.Call(), ifs=[], is_async=0) as each]:
            pass
        case _:
            return None
    if isinstance(each.iter, ast.Call) and model.names.qualified(each.iter.func) != "builtins.range":
        return None
    calls = [node for node in descendants(made.elt) if isinstance(node, ast.Call)]
    if len(calls) != 1 or is_short(made, model) or not _becomes_array(made, model):
        return None
    (call,) = calls
    if model.names.qualified(call.func) not in _UNIFORM:
        return None
    inside = set(descendants(call.func))
    rest = (node for node in descendants(made.elt) if node not in inside and node is not call)
    if not all(isinstance(node, _PARTS) for node in rest):
        return None
    return StratifiedDraw(call, varies=True)


def _varies(arguments: tuple[ast.expr, ...], loop: DrawingLoop, model: SemanticModel) -> bool | None:
    """Whether the arguments depend on the loop's variable; None if other statements than arithmetic determine
    them.
    """
    bound: dict[str, list[ast.expr | None]] = {}
    targets = [loop.target] if isinstance(loop, ast.For) else []
    targets += [each.target for each in loop.generators] if isinstance(loop, ast.ListComp) else []
    for target in targets:
        for node in descendants(target):
            if isinstance(node, ast.Name):
                bound[node.id] = []
    written = set()
    for statement in [loop.elt] if isinstance(loop, ast.ListComp) else loop.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                bound.setdefault(name, []).append(value)
        written |= {
            node.id if isinstance(node, ast.Name) else node.attr
            for node in descendants(statement)
            if isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(node.ctx, ast.Load)
        }
    varies = False
    pending, seen = list(arguments), set[str]()
    while pending:
        argument = pending.pop()
        for node in descendants(argument):
            if isinstance(node, ast.Call) and model.names.qualified(node.func) in _OF_NUMBERS:
                continue
            if not isinstance(node, _PARTS):
                return None
            name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
            if isinstance(node, ast.Name) and name in bound:
                values = bound[name]
                varies = varies or not values
                if len(values) > 1:
                    return None
                if name not in seen:
                    seen.add(name)
                    pending += [value for value in values if value is not None]
            elif name in written:
                return None
    return varies


def _becomes_array(made: ast.ListComp, model: SemanticModel) -> bool:
    """Whether the list is only converted to an array, directly or by the only use of a variable."""
    match model.parent(made):
        case ast.Call() as call:
            return _converts(call, made, model)
        case ast.Assign(targets=[ast.Name(id=name) as held]):
            scope = model.names.scope(held).lookup(name)
            reads = model.names.reads(name, scope) if scope is not None else []
            return bool(reads) and all(
                isinstance(user := model.parent(read), ast.Call) and _converts(user, read, model)
                for read in reads
            )
    return False


def _converts(call: ast.Call, given: ast.expr, model: SemanticModel) -> bool:
    return call.args[:1] == [given] and model.names.qualified(call.func) in _JOINS


def is_short(loop: ast.AST, model: SemanticModel) -> bool:
    """Whether a loop or comprehension has so few iterations that one call for all gains nothing."""
    count = trip_count.passes(loop, model)
    return count is not None and count < _FEW
