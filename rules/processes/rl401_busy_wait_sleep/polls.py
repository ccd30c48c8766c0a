"""Polls: what a condition reads that other code will change."""

from __future__ import annotations

import ast
import enum
from dataclasses import replace

from rlint.rule import SemanticModel, Trait, Type, TypeTag, descendants, frozen, models
from rlint.rules.processes.rl401_busy_wait_sleep.poll_names import words_of


class PollKind(enum.Enum):
    """Kinds of polled objects."""

    EVENT = "an event"
    WORKER = "a thread or process"
    RESULT = "the result of a pool"
    FUTURE = "a future"
    PROGRAM = "a program that was started"
    EMPTY = "an empty queue"
    FULL = "a full queue"
    MESSAGE = "a message"
    DATA = "data that a call fetches"
    STATE = "state that others change"


@frozen
class Poll:
    """One read of `subject`, in the expression `node`.

    The kinds from EVENT to MESSAGE require that the condition holds while there is something to wait for
    (`not event.is_set()`); the opposite condition is STATE. `kind` is that of the subject.
    """

    sort: PollKind
    subject: ast.expr
    node: ast.expr
    kind: Type


_METHODS = {
    **dict.fromkeys(models.having(Trait.POLLS, TypeTag.EVENT), (PollKind.EVENT, True)),
    **dict.fromkeys(models.having(Trait.POLLS, TypeTag.THREAD, TypeTag.PROCESS), (PollKind.WORKER, False)),
    **dict.fromkeys(models.having(Trait.POLLS, TypeTag.CONNECTION), (PollKind.MESSAGE, True)),
    **dict.fromkeys(models.having(Trait.POLLS, TypeTag.FUTURE), (PollKind.FUTURE, True)),
    "ready": (PollKind.RESULT, True),
    "empty": (PollKind.EMPTY, False),
    "full": (PollKind.FULL, False),
    "qsize": (PollKind.EMPTY, True),
}
SORT_OF_TAG = {
    TypeTag.EVENT: PollKind.EVENT, TypeTag.THREAD: PollKind.WORKER, TypeTag.PROCESS: PollKind.WORKER,
    TypeTag.FUTURE: PollKind.FUTURE, TypeTag.QUEUE: PollKind.EMPTY, TypeTag.CONNECTION: PollKind.MESSAGE,
}  # fmt: skip
"""The kind of poll for a value of known type."""

_AT_ONCE = frozenset({"noblock", "dontwait"})
_FAMILY = {PollKind.FULL: PollKind.EMPTY, PollKind.RESULT: PollKind.FUTURE}


def poll_of(leaf: ast.expr, model: SemanticModel, *, positive: bool, fetches: bool) -> Poll:
    """Return the poll of a part of a condition, which is true (`positive`) or false during the wait."""
    unknown = Poll(PollKind.DATA if fetches else PollKind.STATE, leaf, leaf, Type())
    match leaf:
        case ast.Compare(
            left=ast.Call(func=ast.Attribute(attr="qsize")) as call,
            ops=[ast.Eq() | ast.LtE() | ast.Gt() | ast.NotEq() as op],
            comparators=[ast.Constant(value=0)],
        ):
            none = positive is isinstance(op, (ast.Eq, ast.LtE))
            found = _is_polled(call, model, positive=not none)
            return replace(found, node=leaf) if found is not None else unknown
        case ast.Compare(left=ast.Attribute(attr="exitcode", value=worker), ops=[ast.Is()]) if positive:
            kind = model.types.type_of(worker)
            return Poll(PollKind.WORKER, worker, leaf, kind) if kind.tag is TypeTag.PROCESS else unknown
        case ast.Compare(left=ast.Call(func=ast.Attribute(attr="poll", value=program)), ops=[ast.Is()]):
            kind = model.types.type_of(program)
            return Poll(PollKind.PROGRAM, program, leaf, kind) if kind.of == "subprocess.Popen" else unknown
        case ast.Call():
            return _is_polled(leaf, model, positive=positive) or unknown
    return unknown


def _is_polled(call: ast.Call, model: SemanticModel, *, positive: bool) -> Poll | None:
    if not isinstance(call.func, ast.Attribute):
        return None
    if (call.args or call.keywords) and not (call.func.attr == "poll" and does_not_block(call)):
        return None
    sort, inverted = _METHODS.get(call.func.attr, (None, False))
    if sort is None or positive is inverted:
        return None
    subject = call.func.value
    kind = model.types.type_of(subject)
    if sort is PollKind.MESSAGE and kind.tag is not TypeTag.CONNECTION:
        return None  # processes and sockets are polled, too
    expected = SORT_OF_TAG.get(kind.tag)
    if expected is not None and expected is not _FAMILY.get(sort, sort):
        return None
    return Poll(sort, subject, call, kind)


def does_not_block(call: ast.Call) -> bool:
    """Whether a call does not block: `get(False)`, `get(block=False)`, `poll()`, `poll(0)`,
    `recv(flags=NOBLOCK)`.
    """
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name == "get_nowait":
        return True
    if name == "poll":
        return not call.keywords and all(
            isinstance(argument, ast.Constant) and argument.value in (0, 0.0) for argument in call.args
        )
    if name.startswith("recv"):
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        return any(_AT_ONCE & words_of(node.attr) for flags in given for node in descendants(flags)
                   if isinstance(node, ast.Attribute))  # fmt: skip
    first = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "block"), None)
    return isinstance(first, ast.Constant) and first.value is False
