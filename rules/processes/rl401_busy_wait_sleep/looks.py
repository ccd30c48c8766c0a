"""The objects that the conditions of a loop poll."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator

from rlint.rule import (
    MAX_DEFINITIONS,
    EffectKind,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    is_in,
    models,
    waiting_words,
)
from rlint.rules.processes.rl401_busy_wait_sleep.poll_names import words_of
from rlint.rules.processes.rl401_busy_wait_sleep.polls import SORT_OF_TAG, Poll, does_not_block, poll_of

NEUTRAL = models.having(Trait.OF_NUMBERS, "builtins") - {"builtins.len"} | (
    {"builtins.all", "builtins.any"} | {"builtins.getattr", "builtins.hasattr", "builtins.isinstance"}
)
"""Functions that only read their arguments."""


_CONTAINERS = frozenset({TypeTag.LIST, TypeTag.DEQUE, TypeTag.DICT, TypeTag.SET})


class _Verdict(enum.IntEnum):
    NOTHING = 0
    STATE = 1
    DATA = 2
    CLOCK = 3


class Looks:
    """The objects that the conditions of a loop poll. `loop` is the loop itself: names that it binds are
    replaced by their values. `strict` accepts only calls that are known to have no effect and to return at
    once.
    """

    def __init__(self, model: SemanticModel, loop: ast.AST, *, strict: bool) -> None:
        self.model = model
        self.loop = loop
        self.strict = strict
        self.assigned: set[str] = set()  # names that the iteration has bound so far

    def polls(self, test: ast.expr, *, holds: bool) -> list[Poll] | None:
        """Return the polls of a condition that is true (`holds`) or false while the loop waits.

        None if the condition does something else as well, or if the wait is for the outside world: a server,
        a device, a window. Reading the clock is not a poll.
        """
        found: list[Poll] = []
        for leaf, positive in _leaves(test, positive=holds):
            meanings = self._meanings(leaf)
            if meanings is None:
                return None
            judged = [(self._judge(expression), expression) for expression in meanings]
            verdicts = [verdict for verdict, _ in judged if verdict is not None]
            if len(verdicts) < len(judged):
                return None
            most = max(verdicts)
            if most in (_Verdict.STATE, _Verdict.DATA):
                node = next(expression for verdict, expression in judged if verdict is most)
                fetches = most is _Verdict.DATA
                found.append(poll_of(node, self.model, positive=positive, fetches=fetches))
        return found

    def allows(self, expression: ast.expr) -> bool:
        """Return whether evaluating this expression only polls."""
        return self._judge(expression) is not None

    def _meanings(self, leaf: ast.expr) -> list[ast.expr] | None:
        """Return the leaf, and the values of its names in the loop; None if there are too many."""
        found = [leaf]
        for node in descendants(leaf):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                definitions = self.model.dataflow.definitions(node)
                if len(definitions) > MAX_DEFINITIONS:
                    return None
                for binding in definitions:
                    value, statement = binding.value, binding.statement
                    if value is None or isinstance(value, ast.Constant) or not self.binds(statement):
                        continue
                    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
                        found.append(value)
        return found

    def binds(self, node: ast.AST) -> bool:
        """Whether a statement runs in the iterations of the loop."""
        return node is not self.loop and is_in(node, self.loop)

    def _judge(self, expression: ast.expr) -> _Verdict | None:
        verdict = _Verdict.NOTHING
        for node in descendants(expression):
            match node:
                case ast.Await() | ast.Yield() | ast.YieldFrom() | ast.Lambda():
                    return None
                case ast.Call():
                    called = self._called(node)
                    if called is None:
                        return None
                    verdict = max(verdict, called)
                case ast.Attribute(ctx=ast.Load()) if self._foreign(node):
                    return None
                case ast.Attribute(ctx=ast.Load()) if self.model.syntax.call_of(node) is None:
                    verdict = max(verdict, _Verdict.STATE)
                case ast.Subscript(ctx=ast.Load()):
                    verdict = max(verdict, _Verdict.STATE)
                case ast.Name(ctx=ast.Load()) if self._foreign(node) or self._carried(node):
                    return None
                case ast.Name(ctx=ast.Load()) if verdict < _Verdict.STATE and self._shared(node):
                    verdict = _Verdict.STATE
        return verdict

    def _called(self, call: ast.Call) -> _Verdict | None:
        callee = self.model.names.qualified(call.func) or ""
        if callee.partition(".")[0] in waiting_words.NETWORK:
            return None
        if callee == "builtins.len" and len(call.args) == 1:
            return (
                _Verdict.STATE if isinstance(call.args[0], (ast.Name, ast.Attribute, ast.Subscript)) else None
            )
        if callee in NEUTRAL:
            return _Verdict.NOTHING
        effect = self.model.effects.call_effect(call)
        if effect.kind & EffectKind.READS_CLOCK:
            return _Verdict.CLOCK
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if name == "poll" and not does_not_block(call):
            return None
        if name in waiting_words.LOOKS or (effect.quiet and not self._changes_subject(call)):
            return _Verdict.STATE
        return _Verdict.DATA if self._fetches(call) else None

    def _changes_subject(self, call: ast.Call) -> bool:
        """Whether the loop makes progress by a call such as `pending.pop()`, even if no other code observes
        the change.
        """
        if not isinstance(call.func, ast.Attribute):
            return False
        known = models.method_fact(self.model.types.type_of(call.func.value).tag, call.func.attr)
        return known is not None and not known.effect.quiet

    def _fetches(self, call: ast.Call) -> bool:
        """Whether the call fetches data, if there are any, and returns at once."""
        match call.func:
            case ast.Attribute(attr=name) | ast.Name(id=name):
                if self.strict:
                    return name == "get_nowait" or (name == "get" and does_not_block(call))
                if (
                    not waiting_words.FETCHES & words_of(name)
                    or self.model.effects.call_effect(call).kind & EffectKind.NETWORK
                ):
                    return False
                if name not in waiting_words.BLOCKING:
                    return True
                tag = (
                    self.model.types.type_of(call.func.value).tag
                    if isinstance(call.func, ast.Attribute)
                    else None
                )
                return does_not_block(call) or (
                    tag is not TypeTag.QUEUE and name == "get" and bool(call.args)
                )
        return False

    def _foreign(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether the name denotes the world outside of the program. A known type is more reliable."""
        name = node.id if isinstance(node, ast.Name) else node.attr
        words = words_of(name)
        if self._is_only_number(node) or self._is_container(node):
            return False
        return (
            bool(waiting_words.FOREIGN & words)
            and not waiting_words.OWN & words
            and self.model.types.type_of(node).tag not in SORT_OF_TAG
        )

    def _is_container(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether it is a list or the like, or the object that holds one: other code of the same process
        fills it, whatever it is called.
        """
        around = self.model.parent(node)
        while isinstance(around, ast.Attribute) and around.value is node:
            node, around = around, self.model.parent(around)
        return self.model.types.type_of(node).tag in _CONTAINERS

    def _is_only_number(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether a variable is only the number that an attribute is compared with (`self.steps.value <
        limit`), or that is added to another one.
        """
        match node, self.model.parent(node):
            case ast.Name(), ast.AugAssign(value=value):
                return value is node
            case ast.Name(), ast.Compare(left=left, comparators=others):
                rest = [part for part in (left, *others) if part is not node]
                return all(isinstance(part, ast.Attribute) for part in rest)
        return False

    def _carried(self, name: ast.Name) -> bool:
        """Whether an iteration without any pause carries the variable to the next one. The loop then makes
        progress, and does not wait.
        """
        if not self.strict or name.id in self.assigned:
            return False
        definitions = self.model.dataflow.definitions(name)
        return len(definitions) > MAX_DEFINITIONS or any(self.binds(each.statement) for each in definitions)

    def _shared(self, name: ast.Name) -> bool:
        """Whether other code may rebind the variable while this loop runs."""
        scope = self.model.names.scope(name).lookup(name.id)
        if scope is None or self.model.names.qualified(name) is not None:
            return False
        if scope.parent is None:
            return len(self.model.names.bindings(name)) > 1
        return scope.is_function and self.model.names.is_captured(name.id, scope)


def _leaves(test: ast.expr, *, positive: bool) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the parts of a condition, and whether each has to be true for the whole to have the wanted
    value.
    """
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _leaves(operand, positive=not positive)
        case ast.BoolOp(values=values):
            for value in values:
                yield from _leaves(value, positive=positive)
        case ast.Compare(left=left, ops=[ast.Is() | ast.Eq()], comparators=[ast.Constant(value=bool(value))]):
            yield from _leaves(left, positive=positive is value)
        case _:
            yield test, positive
