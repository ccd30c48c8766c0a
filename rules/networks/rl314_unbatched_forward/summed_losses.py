"""Networks in a loop that sums up the loss of a batch, item by item."""

from __future__ import annotations

import ast

from rlint.rule import AnyLoop, LoopItem, SemanticModel, SinkKind, descendants, is_in
from rlint.rules.networks.rl314_unbatched_forward.per_item import DEPTH, PARTS, TOKENS, CallInput, names_in


def item_of_summed_loss(call: ast.Call, loop: AnyLoop, model: SemanticModel) -> LoopItem | None:
    """Return the loop variable from which the call's input is computed, if the loop sums up a loss on which
    `backward` is called once after it: the iterations are the items of one batch.
    """
    if not isinstance(loop, ast.For) or not _sums_loss(call, loop, model) or _keeps_state(call, loop):
        return None
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    look = CallInput(call, loop, model, of_objects=True, may_draw=True)
    if not look.items or not all(look.follow(value, DEPTH) for value in given):
        return None
    names = {name for value in (loop.target, loop.iter) for name in names_in(value)}
    if not look.found or any(TOKENS.search(name) or PARTS.search(name) for name in names):
        return None
    return next(iter(look.found.values())) if not look.carried() else None


def _keeps_state(call: ast.Call, loop: ast.For) -> bool:
    """Whether the loop also runs the same network in another branch, with a state that it returns for the
    next iteration: `if net.recurrent: value, memory = net(x, memory)`, `else: value = net(x)`.
    """
    wanted = ast.dump(call.func)
    for node in descendants(loop):
        match node:
            case ast.Assign(targets=[target], value=ast.Call(func=func) as other) if (
                other is not call and ast.dump(func) == wanted
            ):
                returned = set(names_in(target))
                if any(returned.intersection(names_in(argument)) for argument in other.args):
                    return True
    return False


def _sums_loss(call: ast.Call, loop: ast.For, model: SemanticModel) -> bool:
    """Whether `backward` is called after a loop on what it computes from the result of a call, in the same
    function, or by the callers of one that returns the sum as a loss.
    """
    sinks = model.gradients.sinks(call)
    learned = [left.node for left in sinks if left.label is SinkKind.LEARNED]
    if learned:
        return not any(is_in(node, loop) for node in learned)
    function = model.function(call)
    if function is None or "loss" not in function.name or model.nn.takes_gradient_steps(loop):
        return False
    left = [one.node for one in sinks if one.label is SinkKind.RETURNED]
    return bool(left) and not any(is_in(node, loop) for node in left) and _adds_up(loop)


def _adds_up(loop: ast.For) -> bool:
    """Whether a statement of a loop adds to a variable: `total = total + loss`, `total += loss`."""
    for statement in loop.body:
        match statement:
            case ast.AugAssign(target=ast.Name(), op=ast.Add()):
                return True
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.Add(), left=left, right=right)
            ):
                if any(isinstance(part, ast.Name) and part.id == name for part in (left, right)):
                    return True
    return False


def is_repeated_in(loop: AnyLoop, call: ast.Call, model: SemanticModel) -> bool:
    """Whether an earlier call in the loop runs the same network on other items of it."""
    wanted = ast.dump(call.func)
    return any(
        isinstance(node, ast.Call)
        and node is not call
        and ast.dump(node.func) == wanted
        and model.source.span(node) < model.source.span(call)
        and item_of_summed_loss(node, loop, model) is not None
        for node in descendants(loop)
    )
