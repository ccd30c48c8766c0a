"""The same function applied again to the same values, by a helper or in another loop."""

from __future__ import annotations

import ast

from rlint.rule import Application, Function, FunctionSummary, ItemOrigin, SemanticModel, descendants, frozen


@frozen
class Reapplied:
    """`function` is applied again to the argument of `earlier` or, if `to_result`, to its result."""

    function: str
    earlier: ast.expr
    to_result: bool
    items: bool


def by_helper(call: ast.Call, model: SemanticModel) -> Reapplied | None:
    """Return the function that a helper and its caller both apply to the same value, or None."""
    if not (call.args or call.keywords):
        return None
    targets = model.types.call_targets(call)
    if len(targets) != 1:
        return None
    (target,) = targets
    for application in target.applications:
        applied = _applied(application, target, model)
        argument = _argument_for(application.parameter, call, target)
        if applied is None or argument is None:
            continue
        made = model.types.maker_of(argument, items=application.items)
        if made is not None and _runs(made, applied, model):
            return Reapplied(applied.name, made, to_result=True, items=application.items)
        earlier = _same_application(call, argument, applied, items=application.items, model=model)
        if earlier is not None:
            return Reapplied(applied.name, earlier, to_result=False, items=application.items)
    return None


def in_loop(call: ast.Call, model: SemanticModel) -> Reapplied | None:
    """Return the function that this loop and an earlier one both apply to the same items, or None."""
    if call.keywords or len(call.args) != 1 or not isinstance(item := call.args[0], ast.Name):
        return None
    called = call.func
    if isinstance(called, ast.Attribute):
        name = called.attr
    elif isinstance(called, ast.Name):
        name = called.id
    else:
        return None
    if len(model.names.calls_named(name, model.function(call))) < 2:
        return None
    place = model.types.origin_of(item)
    targets = model.types.call_targets(call)
    if place is None or place.depth != 1 or len(targets) != 1:
        return None
    after = model.frequency.loops(call)
    for other, before in model.once(_by_place, (name, model.function(call))).get(
        _origin_key(place, model), ()
    ):
        if not after or before is after[0] or model.types.call_targets(other) != targets:
            continue
        if _is_again(place.root, before, after[0], model):
            return Reapplied(targets[0].name, other, to_result=False, items=True)
    return None


def _by_place(
    named: tuple[str, Function | None], model: SemanticModel
) -> dict[tuple[object, ...], list[tuple[ast.Call, ast.AST]]]:
    """Return the calls of a name in a function that a loop makes for every item, each with the loop, by the
    origin of the argument. Of equal ones in one loop, the first.
    """
    found: dict[tuple[object, ...], list[tuple[ast.Call, ast.AST]]] = {}
    seen: set[tuple[object, ...]] = set()
    for call in model.names.calls_named(*named):
        place = _place_of_one(call, model)
        whole = _whole(call, model) if place is not None and place.depth == 1 else None
        if place is None or whole is None:
            continue
        described = _origin_key(place, model)
        key = (described, whole, *(target.path for target in model.types.call_targets(call)))
        if key not in seen:
            seen.add(key)
            found.setdefault(described, []).append((call, whole))
    return found


def _origin_key(place: ItemOrigin, model: SemanticModel) -> tuple[object, ...]:
    """Return a key that is equal only for the same origin."""
    root = place.root
    scope = model.names.scope(root).lookup(root.id) if isinstance(root, ast.Name) else None
    return place.depth, ast.dump(root), scope


def _applied(
    application: Application, helper: FunctionSummary, model: SemanticModel
) -> FunctionSummary | None:
    """Return the function that a helper applies, if applying it twice costs twice as much and gives the same
    result.
    """
    found = model.index.callables(application.path, helper.module)
    if len(found) != 1 or found[0].path == helper.path:
        return None
    return found[0] if model.effects.is_worth_caching(found[0]) else None


def _argument_for(parameter: str, call: ast.Call, target: FunctionSummary) -> ast.expr | None:
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    for keyword in call.keywords:
        if keyword.arg == parameter:
            return keyword.value
    if parameter not in target.call_parameters:
        return None  # `*args` or `**kwargs`
    position = target.call_parameters.index(parameter)
    return call.args[position] if position < len(call.args) else None


def _runs(made: ast.expr, applied: FunctionSummary, model: SemanticModel) -> bool:
    if isinstance(made, ast.Call):
        return model.types.call_targets(made) == [applied]
    qualified = model.names.qualified(made)
    return qualified is not None and model.index.callables(qualified, model.module.module) == [applied]


def _same_application(
    call: ast.Call, argument: ast.expr, applied: FunctionSummary, *, items: bool, model: SemanticModel
) -> ast.Call | None:
    """Return a call in the same function that applies `applied` to the origin of `argument`."""
    place = model.types.origin_of(argument)
    if place is None:
        return None
    wanted = ItemOrigin(place.root, place.depth + items, place.loops)
    for other in model.names.calls_named(applied.name, model.function(call)):
        if not _is_on(other, wanted, model) or model.types.call_targets(other) != [applied]:
            continue
        if wanted.depth == 0 or _in_same_pass(call, other, model):
            ends: tuple[ast.AST | None, ast.AST | None] = (call, other)
        else:
            ends = (call if not place.depth else _whole(call, model)), _whole(other, model)
        here, there = ends
        if here is None or there is None:
            continue
        if _is_again(wanted.root, here, there, model) or _is_again(wanted.root, there, here, model):
            return other
    return None


def _is_on(call: ast.Call, place: ItemOrigin, model: SemanticModel) -> bool:
    """Whether the call's only argument has the same origin: the same variable, or an item of the same one."""
    own = _place_of_one(call, model)
    return own is not None and _origin_key(own, model) == _origin_key(place, model)


def _place_of_one(call: ast.Call, model: SemanticModel) -> ItemOrigin | None:
    """Return the origin of a call's only argument."""
    if len(call.args) != 1 or call.keywords or not isinstance(call.args[0], (ast.Name, ast.Attribute)):
        return None
    return model.types.origin_of(call.args[0])


def _in_same_pass(one: ast.AST, other: ast.AST, model: SemanticModel) -> bool:
    """Whether both are in the same loops."""
    return bool(model.frequency.loops(one)) and model.frequency.loops(one) == model.frequency.loops(other)


def _whole(call: ast.Call, model: SemanticModel) -> ast.AST | None:
    """Return the loop or comprehension that makes the call once for every item; None if it skips some."""
    loops = model.frequency.loops(call)
    if not loops:
        return None
    loop = loops[0]
    if isinstance(loop, ast.For):
        statement = model.syntax.statement(call)
        if model.parent(statement) is not loop or not model.dataflow.order.always_within(call, statement):
            return None
        return loop
    if isinstance(loop, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        if len(loop.generators) != 1 or loop.generators[0].ifs:
            return None
        parts = [loop.key, loop.value] if isinstance(loop, ast.DictComp) else [loop.elt]
        inside = [part for part in parts if any(node is call for node in descendants(part))]
        return loop if inside and model.dataflow.order.always_within(call, inside[0]) else None
    return None


def _is_again(root: ast.expr, first: ast.AST, second: ast.AST, model: SemanticModel) -> bool:
    """Whether `second` always runs after `first`, without a certain modification of the list in between."""
    return model.dataflow.doubts_between(root, first, second) is not None


def message_for_helper(call: ast.Call, found: Reapplied, model: SemanticModel) -> tuple[str, str]:
    """Return message and advice for a helper that applies a function again."""
    helper, function, line = ast.unparse(call.func), found.function, _line(found.earlier, model)
    if found.to_result:
        message = (
            f"`{helper}` calls `{function}` on a value that line {line} already passed through "
            f"`{function}`; removing one of the calls changes the result unless `{function}` is idempotent"
        )
        return message, f"Decide which call is intended: pass `{helper}` the raw value, or extract only once"
    each = "each item of the list" if found.items else "the value"
    return (
        f"`{helper}` calls `{function}` on {each} for which line {line} already calls it",
        f"Pass `{helper}` the result of `{function}` instead of its input",
    )


def message_for_loop(call: ast.Call, found: Reapplied, model: SemanticModel) -> tuple[str, str]:
    """Return message and advice for a second loop that applies a function again."""
    loop = f"the loop on line {_line(found.earlier, model)}"
    return (
        f"`{ast.unparse(call)}` runs again for every item: {loop} has already called it on the same items",
        "keep the results of the first loop in a list and iterate over that",
    )


def _line(node: ast.AST, model: SemanticModel) -> int:
    return model.span_of(node)[0].line
