"""Waits in branches of a loop: the iterations that find nothing to do."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, descendants, vocabulary
from rlint.rules.processes.rl401_busy_wait_sleep.idle import Idle, leaves, means_not_there
from rlint.rules.processes.rl401_busy_wait_sleep.looks import Looks
from rlint.rules.processes.rl401_busy_wait_sleep.pauses import Pause
from rlint.rules.processes.rl401_busy_wait_sleep.poll_names import words_of
from rlint.rules.processes.rl401_busy_wait_sleep.polls import Poll, PollKind, does_not_block
from rlint.rules.processes.rl401_busy_wait_sleep.wait import Wait, WaitLoop, ends_when_empty

_TAKES = frozenset({"pop", "popleft"})
_COUNTS = frozenset({"poll", "len", "qsize", "size"})


def branch_wait(loop: WaitLoop, pause: Pause, model: SemanticModel) -> Wait | None:
    """Return the wait of a `sleep` in a branch of a loop, for the iterations that find nothing to do."""
    if isinstance(loop, ast.For) and not any(
        isinstance(outer, ast.While) for outer in model.frequency.loops(loop)
    ):
        return None  # retries a few times
    looks = Looks(model, loop, strict=False)
    block, _ = model.syntax.block(pause.statement)
    inside = Idle(model, looks)
    if not inside.block(block) or len(inside.pauses) != 1:
        return None
    guard = _guard(pause.statement, loop, model)
    if guard is None or _pauses_either_way(guard, block, looks, model):
        return None
    jumps = isinstance(block[-1], (ast.Continue, ast.Break))
    if not jumps and not _ends_the_pass(guard, loop, looks, model):
        return None
    if isinstance(guard, ast.ExceptHandler):
        found = _taken(guard, looks, model)
        alternative = True
    else:
        taken = block is guard.body
        reported = _progress(guard.test, looks)
        found = reported or looks.polls(guard.test, holds=taken)
        alternative = (
            jumps
            or bool(reported)
            or (bool(guard.orelse) and guard.orelse is not block)
            or block is guard.orelse
        )
    if (
        not found
        or ends_when_empty(loop, found[0])
        or _works_before(guard, loop, looks, model, all_work=not alternative)
    ):
        return None
    outer = looks.polls(loop.test, holds=True) if isinstance(loop, ast.While) else []
    return Wait(loop, [pause], [*found, *(outer or [])], guard, counted=inside.counted)


def _pauses_either_way(
    guard: ast.If | ast.ExceptHandler, block: list[ast.stmt], looks: Looks, model: SemanticModel
) -> bool:
    """Whether a condition only chooses the length of a pause: `sleep(1.0) if careful else sleep(0.05)`, as a
    statement.
    """
    if isinstance(guard, ast.ExceptHandler):
        return False
    other = Idle(model, looks)
    return other.block(guard.orelse if block is guard.body else guard.body) and bool(other.pauses)


def round_wait(loop: WaitLoop, pause: Pause, model: SemanticModel) -> Wait | None:
    """Return the wait of a loop that sleeps in each iteration, and otherwise only handles input, if there is
    any.
    """
    if not isinstance(loop, ast.While) or pause.statement not in loop.body:
        return None
    looks = Looks(model, loop, strict=False)
    idle = Idle(model, looks)
    outer = looks.polls(loop.test, holds=True)
    found: list[Poll] = []
    for statement in loop.body:
        handled = _handled(statement, looks, model)
        if handled:
            found += handled
        elif not idle.block([statement]):
            return None
    if outer is None or not found or len(idle.pauses) != 1:
        return None
    return Wait(loop, [pause], [*found, *outer], counted=True)


def _handled(statement: ast.stmt, looks: Looks, model: SemanticModel) -> list[Poll]:
    """Return the polled input that a statement handles: `if connection.poll():`, `self._poll_pipe(pipe)`."""
    match statement:
        case ast.For(body=body, orelse=[]):
            parts = [_handled(inner, looks, model) for inner in body]
            return [poll for part in parts for poll in part] if all(parts) else []
        case ast.If(test=test, body=body, orelse=other) if not leaves(body) and all(map(_signals, other)):
            found = looks.polls(test, holds=False) or []
            return [poll for poll in found if _comes(poll) or _is_taken(poll.node, statement.body)]
        case ast.Try(body=[taking, *_], handlers=[handler], orelse=[], finalbody=[]) if means_not_there(
            handler
        ):
            value = getattr(taking, "value", None)
            found = looks.polls(value, holds=False) if isinstance(value, ast.Call) else None
            waits = Idle(model, looks).block(handler.body) and not leaves(handler.body)
            return found if found and waits else []
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) as call):
            return (
                [Poll(PollKind.DATA, call, call, model.types.type_of(call))]
                if "poll" in words_of(name)
                else []
            )
    return []


def _comes(poll: Poll) -> bool:
    """Whether a poll tests for input, rather than for a mode that is on or off."""
    if poll.sort is not PollKind.STATE:
        return True
    called = [node.func for node in descendants(poll.node) if isinstance(node, ast.Call)]
    names = {node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "") for node in called}
    return bool(_COUNTS & names)


def _signals(statement: ast.stmt) -> bool:
    """Whether a statement only says that the loop is idle: `self.idle.set()`."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="set" | "clear"), args=[], keywords=[])):
            return True
    return False


def _is_taken(flag: ast.expr, block: list[ast.stmt]) -> bool:
    """Whether a block resets the flag that guards it, or takes an item of the list that does: `if
    request.value: ...; request.value = 0`, `if self.orders: order = self.orders.pop(0)`.
    """
    wanted = {
        ast.unparse(node) for node in descendants(flag) if isinstance(node, (ast.Attribute, ast.Subscript))
    }
    taken = {
        ast.unparse(call.func.value)
        for statement in block
        if isinstance(statement, ast.Assign)
        for call in [statement.value]
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _TAKES
    }
    return bool(wanted & taken) or any(
        ast.unparse(target) in wanted
        for statement in block
        if isinstance(statement, ast.Assign)
        for target in statement.targets
    )


def _guard(statement: ast.stmt, loop: WaitLoop, model: SemanticModel) -> ast.If | ast.ExceptHandler | None:
    for parent in model.ancestors(statement):
        if parent is loop:
            return None
        if isinstance(parent, (ast.If, ast.ExceptHandler)):
            return parent
    return None


def _taken(handler: ast.ExceptHandler, looks: Looks, model: SemanticModel) -> list[Poll]:
    """Return what the `try` of a handler attempts to fetch, if the handler means that there is nothing
    yet.
    """
    parent = model.parent(handler)
    if not isinstance(parent, ast.Try) or not (means_not_there(handler) or _takes_alone(parent)):
        return []
    for statement in parent.body:
        for node in descendants(statement):
            if isinstance(node, ast.Call):
                found: list[Poll] = looks.polls(node, holds=False) or []
                if found and found[0].sort is PollKind.DATA:
                    return found
    return []


def _takes_alone(trying: ast.Try) -> bool:
    """Whether a block is only `try: item = queue.get_nowait()`: any exception then means that there is
    nothing yet.
    """
    match trying.body:
        case [ast.Assign(value=ast.Call(func=ast.Attribute(attr="get_nowait" | "get")) as call)]:
            at_once: bool = does_not_block(call)
            return at_once
    return False


def _progress(test: ast.expr, looks: Looks) -> list[Poll]:
    """Return whether a test is `if not answered:` or `if answered == 0:`, where the iteration counts what it
    has done.
    """
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name() as flag):
            pass
        case ast.Compare(left=ast.Name() as flag, ops=[ast.Eq()], comparators=[ast.Constant(value=0)]):
            pass
        case _:
            return []
    reset = done = False
    for binding in looks.model.names.bindings(flag):
        if looks.binds(binding.statement):
            value = binding.value.value if isinstance(binding.value, ast.Constant) else None
            reset |= isinstance(binding.statement, ast.Assign) and value in (0, False)
            done |= value is True or isinstance(binding.statement, ast.AugAssign)
    return [Poll(PollKind.STATE, flag, flag, looks.model.types.type_of(flag))] if reset and done else []


def _ends_the_pass(guard: ast.AST, loop: WaitLoop, looks: Looks, model: SemanticModel) -> bool:
    """Whether only reads follow a branch before the loop's next iteration."""
    for child in (guard, *model.ancestors(guard)):
        if child is loop:
            return True
        if isinstance(child, ast.stmt):
            block, index = model.syntax.block(child)
            if not Idle(model, looks).block(block[index + 1 :]):
                return False
    return False


def _works_before(
    guard: ast.AST, loop: WaitLoop, looks: Looks, model: SemanticModel, *, all_work: bool
) -> bool:
    """Whether each iteration does work before it reaches the branch. All calls count as work, or only those
    that step, train or render.
    """
    for child in (guard, *model.ancestors(guard)):
        if child is loop:
            return False
        if not isinstance(child, ast.stmt):
            continue
        block, index = model.syntax.block(child)
        for earlier in block[:index]:
            if all_work and not Idle(model, looks).block([earlier]):
                return True
            for node in descendants(earlier) if isinstance(earlier, (ast.Expr, ast.Assign)) else ():
                if isinstance(node, ast.Call) and isinstance(node.func, (ast.Attribute, ast.Name)):
                    name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
                    if vocabulary.WORKS & words_of(name):
                        return True
    return False
