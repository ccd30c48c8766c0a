"""Statements that should run every N steps: the counter, and the edit."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import (
    FUNCTIONS,
    Edit,
    EffectKind,
    Heat,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    models,
    regex,
    trip_count,
)

_ENDLESS = "itertools.count"
_COUNTS = ("builtins.range", _ENDLESS, "tqdm.trange")
_WRAPS = regex(r"(^|\.)(tqdm|track|progress_bar|ProgressBar)(\.|$)")
_STEPS = regex(
    r"(^|_)(steps?|total_it|it|iters?|itrs?|iterations?|timesteps?|frames?|updates?|count|counter|cntr|idx|t|i|n)($|_)"
)
_LOOKS = models.having(Trait.REDUCES | Trait.TO_HOST | Trait.MEASURES, TypeTag.TENSOR) | {
    "cpu",
    "detach",
    "format",
    "state_dict",
}
"""Methods that only read their receiver, whatever it is."""


def every_nth(
    run: Sequence[ast.stmt], period: int, model: SemanticModel, harmless: EffectKind = EffectKind.READS_CLOCK
) -> Edit | None:
    """Guard consecutive statements by `if step % period == 0`; None if no counter is in scope, or if skipping
    them would skip more than their output. `harmless` are the effects that may be skipped with them.
    """
    counter = counter_at(run[0], model, period)
    if counter is None or not all(writes_alone(statement, model, harmless) for statement in run):
        return None
    return model.edit.wrap_in(f"if {counter} % {period} == 0:", run)


def writes_alone(
    statement: ast.stmt, model: SemanticModel, harmless: EffectKind = EffectKind.READS_CLOCK
) -> bool:
    """Whether only the outermost call of a statement has an effect, with or without a file opened by
    `with`.
    """
    if isinstance(statement, ast.With):
        opened = [item.context_expr for item in statement.items]
        return all(_is_harmless(given, model, harmless) for given in opened) and all(
            writes_alone(inner, model, harmless) for inner in statement.body
        )
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    call = statement.value
    given = [argument.value if isinstance(argument, ast.Starred) else argument for argument in call.args]
    given += [keyword.value for keyword in call.keywords]
    return all(_is_harmless(argument, model, harmless) for argument in given)


def _is_harmless(given: ast.expr, model: SemanticModel, harmless: EffectKind) -> bool:
    if any(isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield)) for node in descendants(given)):
        return False
    for call in (node for node in descendants(given) if isinstance(node, ast.Call)):
        if (
            isinstance(call.func, ast.Attribute)
            and call.func.attr in _LOOKS
            and not model.types.call_targets(call)
        ):
            continue
        if not model.effects.call_effect(call).does_only(harmless):
            return False
    return True


def counter_at(statement: ast.stmt, model: SemanticModel, period: int) -> str | None:
    """Return the source of a counter of the iterations that run a statement: the variable of the loop that
    determines its cadence, or a variable incremented by one in each iteration. A loop that restarts
    repeatedly, and may have fewer than `period` iterations each time, counts nothing: its counter would
    restart with it.
    """
    beat = model.frequency.cadence(statement)
    if beat is None or (beat.calls and model.frequency.loops(statement)):
        return None
    loop = model.frequency.driving_loop(statement)
    if isinstance(loop, (ast.For, ast.AsyncFor)):
        counter = counts_passes(loop, period, model)
        if counter is not None:
            return counter
    return _counted_up(statement, loop, model)


def counts_passes(loop: ast.For | ast.AsyncFor, period: int, model: SemanticModel) -> str | None:
    """Return the variable of a loop that counts its iterations, and does not restart before `period` of
    them.
    """
    counted = loop_counter(loop, model)
    if counted is None or not counted.id.strip("_") or _is_rebound(counted, loop, model):
        return None  # `_` says that nothing reads it
    return counted.id if _is_long(loop, period, model) or not _begins_again(loop, model) else None


def _begins_again(loop: ast.For | ast.AsyncFor, model: SemanticModel) -> bool:
    """Whether a loop is in another one, or in a function that runs repeatedly."""
    return bool(model.frequency.loops(loop)) or model.frequency.heat_of(loop).level is Heat.HOT


def _is_long(loop: ast.For | ast.AsyncFor, period: int, model: SemanticModel) -> bool:
    """Whether a loop surely has many iterations, or iterates over as many items as there are data."""
    many = trip_count.passes(loop, model)
    if many is not None:
        return many >= period
    counts = [call for call in descendants(loop.iter) if isinstance(call, ast.Call)]
    return not any(model.names.qualified(call.func) in _COUNTS for call in counts)


def loop_counter(loop: ast.For | ast.AsyncFor, model: SemanticModel) -> ast.Name | None:
    """Return the variable of a loop that counts its iterations: `for step in range(n)`, `for step, batch in
    enumerate(loader)`, with or without a progress bar around it.
    """
    iterable = loop.iter
    while isinstance(iterable, ast.Call):
        qualified = model.names.qualified(iterable.func) or ""
        if qualified in _COUNTS:
            by_one = len(iterable.args) <= (1 if qualified == _ENDLESS else 2)
            by_one = by_one and all(keyword.arg not in ("step", None) for keyword in iterable.keywords)
            return loop.target if isinstance(loop.target, ast.Name) and by_one else None
        if qualified == "builtins.enumerate":
            match loop.target:
                case ast.Tuple(elts=[ast.Name() as first, *_]):
                    return first
            return None
        if not _WRAPS.search(qualified) or not iterable.args:
            return None
        iterable = iterable.args[0]
    return None


def _is_rebound(name: ast.Name, loop: ast.AST, model: SemanticModel) -> bool:
    """Whether another statement in the loop binds the loop's variable."""
    bound = [binding.statement for binding in model.names.bindings(name) if binding.statement is not loop]
    return any(loop in model.ancestors(statement) for statement in bound)


def _counted_up(statement: ast.stmt, loop: ast.AST | None, model: SemanticModel) -> str | None:
    function = model.function(statement)
    for added in sorted(model.syntax.of_type(ast.AugAssign), key=model.source.span):
        match added:
            case ast.AugAssign(
                target=ast.Name() | ast.Attribute(value=ast.Name()) as target,
                op=ast.Add(),
                value=ast.Constant(value=1),
            ):
                pass
            case _:
                continue
        if model.function(added) is not function or not _STEPS.search(target_name(target)):
            continue
        around = model.frequency.loops(added)
        same = around[:1] == [loop] if loop is not None else not around
        begins_again = isinstance(target, ast.Name) and _is_local_to_a_step(target, model)
        if (
            same
            and not begins_again
            and not _waits(added, loop, model)
            and not _is_reset(target, loop, model)
        ):
            return model.source.text(target)
    return None


def _is_local_to_a_step(name: ast.Name, model: SemanticModel) -> bool:
    """Whether a variable is local to a function that runs in each step, so that it only counts within one
    step.
    """
    scope = model.names.scope(name).lookup(name.id)
    function = model.function(name)
    if scope is None or function is None or not scope.is_function or scope is not model.names.scope(name):
        return False
    return model.frequency.heat_of(function.body[0]).level is Heat.HOT


def target_name(target: ast.Name | ast.Attribute) -> str:
    """Return the last name of the incremented target, in lower case."""
    return (target.id if isinstance(target, ast.Name) else target.attr).lower()


def _waits(added: ast.stmt, loop: ast.AST | None, model: SemanticModel) -> bool:
    """Whether the increment is under a condition, inside of the loop."""
    for ancestor in model.ancestors(added):
        if ancestor is loop or isinstance(ancestor, FUNCTIONS):
            break
        if isinstance(ancestor, (ast.If, ast.Try, ast.Match)):
            return True
    return bool(model.frequency.guards(added))


def _is_reset(target: ast.expr, loop: ast.AST | None, model: SemanticModel) -> bool:
    """Whether it is assigned in each iteration of the loop, or of an enclosing one, so that it does not count
    all iterations.
    """
    text = model.source.text(target)
    for assigned in model.syntax.of_type(ast.Assign):
        if all(model.source.text(one) != text for one in assigned.targets):
            continue
        if model.function(assigned) is not model.function(target):
            continue
        around = model.frequency.loops(assigned)
        begins = around[:1] == [loop] or around[:1] in [[each] for each in model.frequency.loops(target)]
        if (begins if loop is not None else not around) and not model.frequency.guards(assigned):
            return True
    return False
