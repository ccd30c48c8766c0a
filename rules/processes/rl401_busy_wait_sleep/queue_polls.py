"""Fixes that let the `get` or `put` of a queue block."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Edit, Fix, SemanticModel, TypeTag
from rlint.rules.processes.rl401_busy_wait_sleep.fixes import fix_of, hazards, overridden, repeatable, shown
from rlint.rules.processes.rl401_busy_wait_sleep.polls import Poll, PollKind
from rlint.rules.processes.rl401_busy_wait_sleep.wait import Wait

_EMPTY = frozenset({"queue.Empty", "multiprocessing.queues.Empty", "_queue.Empty"})
_NO_TIMEOUT = frozenset({"multiprocessing.SimpleQueue"})
_ONE_CONSUMER = "if another consumer takes the item first, `get()` waits for the next one"
_READ_EARLY = "the argument of `put` is evaluated before the wait, not after it"
_OTHER_ORDERS = ("LifoQueue", "PriorityQueue")
_IN_ORDER = (
    "`{}` must return items in the order in which they arrive: others may arrive before the next poll of a "
    "stack or a queue of priorities"
)


def queue_fix(wait: Wait, model: SemanticModel) -> Fix | None:
    """Remove the poll of a queue before a `get` or `put` that blocks anyway."""
    poll = wait.polls[0]
    dropped = _poll_alone(wait, poll, model)
    if dropped is None or not repeatable(poll.subject, model):
        return None
    block, index = model.syntax.block(dropped)
    call = _call_of(block[index + 1]) if index + 1 < len(block) else None
    if call is None or not isinstance(call.func, ast.Attribute):
        return None
    if ast.dump(call.func.value) != ast.dump(poll.subject) or _holds_comment(dropped, model):
        return None
    edits: list[Edit | None] = [model.edit.delete_statement(dropped)]
    reasons: list[str] = []
    if any(pause.awaited for pause in wait.pauses):
        # `await queue.get()`: queues of threads have no awaitable methods
        if (
            poll.kind.of != "asyncio.Queue"
            or not isinstance(model.parent(call), ast.Await)
            or _arguments(call)
        ):
            return None
    elif poll.kind.tag not in (TypeTag.QUEUE, TypeTag.UNKNOWN):
        return None
    else:
        changed = _made_to_wait(call, poll, model)
        if changed is None:
            return None
        edits += changed[0]
        reasons += changed[1]
        if poll.kind.tag is TypeTag.UNKNOWN:
            reasons.append(f"`{shown(poll.subject, model)}` must be a queue")
        if poll.sort is PollKind.EMPTY:
            reasons += hazards(poll.kind, model)
            if model.program.mentions(*_OTHER_ORDERS):
                reasons.append(_IN_ORDER.format(shown(poll.subject, model)))
    names = ("get", "empty") if poll.sort is PollKind.EMPTY else ("put", "full")
    reasons += overridden(poll.subject, names, model)
    reasons += _replaced(poll.subject, model)
    fix: Fix | None = fix_of(f"Let `{'get' if poll.sort is PollKind.EMPTY else 'put'}` wait", edits, reasons)
    return fix


def _replaced(subject: ast.expr, model: SemanticModel) -> Iterator[str]:
    """Yield the condition if other code may put another queue in the place of the one that is polled: the
    poll sees the new one, a call that waits for the old one does not.
    """
    match subject:
        case ast.Name():
            return
        case ast.Attribute(attr=name) if not model.program.may_replace(name):
            return
    yield f"`{shown(subject, model)}` must not be replaced during the wait"


def _poll_alone(wait: Wait, poll: Poll, model: SemanticModel) -> ast.stmt | None:
    """Return the loop, or the `if` at the start of an endless loop, that only polls a queue."""
    if poll.sort not in (PollKind.EMPTY, PollKind.FULL) or len(wait.polls) != 1:
        return None
    if wait.guard is None:
        return wait.loop if wait.exact else None
    if not isinstance(wait.guard, ast.If) or wait.guard.orelse or not _endless(wait):
        return None
    first = wait.loop.body[0] is wait.guard and len(wait.guard.body) == len(wait.pauses) + 1
    return wait.guard if first and wait.guard.test in (poll.node, model.parent(poll.node)) else None


def _endless(wait: Wait) -> bool:
    return isinstance(wait.loop, ast.While) and isinstance(wait.loop.test, ast.Constant)


def _call_of(statement: ast.stmt) -> ast.Call | None:
    """Return the call that is the only expression of a statement."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)):
        return None
    value = statement.value
    if isinstance(value, ast.Await):
        value = value.value
    return value if isinstance(value, ast.Call) else None


def _arguments(call: ast.Call) -> int:
    return len(call.args) + len(call.keywords)


def _made_to_wait(call: ast.Call, poll: Poll, model: SemanticModel) -> tuple[list[Edit], list[str]] | None:
    """Return the edits that make the call after a poll block, and the condition of the fix."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if poll.sort is PollKind.EMPTY:
        if name == "get" and not _arguments(call):
            return [], []
        if name not in ("get", "get_nowait"):
            return None
        return [model.edit.replace(call, f"{model.edit.parenthesized(poll.subject)}.get()")], [_ONE_CONSUMER]
    if name != "put" or call.keywords or len(call.args) != 1:
        return None
    match call.args[0]:
        case ast.Constant():
            return [], []
        case ast.Name(id=variable) as argument:
            scope = model.names.scope(argument).lookup(variable)
            if scope is not None and scope.is_function and not model.names.is_captured(variable, scope):
                return [], []
    return [], [_READ_EARLY]


def _holds_comment(statement: ast.stmt, model: SemanticModel) -> bool:
    end = model.syntax.positions.line_end(statement.end_lineno or statement.lineno)
    return model.source.has_comment(model.source.span(statement)[0], end)


def timeout_fix(wait: Wait, model: SemanticModel) -> Fix | None:
    """Replace `get_nowait()` with a pause in `except queue.Empty` by a `get` with a timeout."""
    handler, poll = wait.guard, wait.polls[0]
    if not isinstance(handler, ast.ExceptHandler) or not isinstance(wait.loop, ast.While) or wait.counted:
        return None
    trying = model.parent(handler)
    if not isinstance(trying, ast.Try) or trying.finalbody or model.parent(trying) is not wait.loop:
        return None
    taken = _call_of(trying.body[0])
    if taken is None or taken is not poll.node or not isinstance(taken.func, ast.Attribute):
        return None
    if handler.type is None or model.names.qualified(handler.type) not in _EMPTY:
        return None
    sleeps = [pause.statement for pause in wait.pauses]
    others = [part for part in handler.body if not isinstance(part, (ast.Pass, ast.Continue))]
    if len(sleeps) > 1 or others != sleeps:
        return None
    if len(handler.body) > 1 and any(_holds_comment(sleep, model) for sleep in sleeps):
        return None
    queue, kind = taken.func.value, model.types.type_of(taken.func.value)
    if isinstance(model.function(wait.loop), ast.AsyncFunctionDef) or not repeatable(queue, model):
        return None
    if kind.tag not in (TypeTag.QUEUE, TypeTag.UNKNOWN) or kind.of in _NO_TIMEOUT:
        return None
    alone = _endless(wait) and wait.loop.body[0] is trying
    reasons = [] if kind.tag is TypeTag.QUEUE else [f"`{shown(queue, model)}` must be a queue"]
    reasons += [] if alone else ["other conditions of the loop may be noticed up to 0.1 s late"]
    reasons += hazards(kind, model)
    reasons += overridden(queue, ("get", "get_nowait"), model)
    waiting = f"{model.edit.parenthesized(queue)}.get(timeout={'1.0' if alone else '0.1'})"
    edits: list[Edit | None] = [
        model.edit.replace(taken, waiting),
        *(model.edit.delete_statement(sleep) for sleep in sleeps),
    ]
    fix: Fix | None = fix_of("Let `get` wait for a while", edits, reasons)
    return fix
