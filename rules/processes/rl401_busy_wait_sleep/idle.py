"""Statements that only wait: poll, sleep, count, log."""

from __future__ import annotations

import ast
from dataclasses import field

from rlint.rule import EffectKind, SemanticModel, TypeTag, descendants, mutable, variable_names, vocabulary
from rlint.rules.processes.rl401_busy_wait_sleep.looks import Looks
from rlint.rules.processes.rl401_busy_wait_sleep.pauses import Pause, pause_of
from rlint.rules.processes.rl401_busy_wait_sleep.poll_names import words_of
from rlint.rules.processes.rl401_busy_wait_sleep.polls import Poll

_LOCKS = frozenset({TypeTag.LOCK, TypeTag.CONDITION, TypeTag.SEMAPHORE, TypeTag.SHARED_VALUE})
_LOCK_WORDS = frozenset({"lock", "locks", "rlock", "mutex", "cond", "condition"})
_HARMLESS = EffectKind.WRITES_OUTPUT | EffectKind.READS_CLOCK


@mutable
class Idle:
    """Recognises statements that only poll, sleep, count and log."""

    model: SemanticModel
    looks: Looks
    pauses: list[Pause] = field(default_factory=list)
    polls: list[Poll] = field(default_factory=list)
    counted: bool = False
    others: int = 0  # statements besides pauses, `pass` and `if poll: break`

    def block(self, statements: list[ast.stmt]) -> bool:
        """Return whether these statements do nothing else."""
        return all(self._statement(statement) for statement in statements)

    def _statement(self, statement: ast.stmt) -> bool:
        pause = pause_of(statement, self.model)
        if pause is not None:
            self.pauses.append(pause)
            return True
        match statement:
            case ast.Pass() | ast.Continue() | ast.Break() | ast.Expr(value=ast.Constant()):
                return True
            case ast.If():
                return self._if(statement)
        self.others += 1
        match statement:
            case ast.Return(value=value):
                return value is None or self.looks.allows(value)
            case (
                ast.Assign(targets=[ast.Name() | ast.Tuple()], value=value)
                | ast.AnnAssign(target=ast.Name(), value=ast.expr() as value)
            ):
                names = variable_names(statement)
                allowed: bool = self.looks.allows(value)
                self.looks.assigned |= names - {
                    node.id for node in descendants(value) if isinstance(node, ast.Name)
                }
                return allowed
            case ast.AugAssign(target=ast.Name(), value=value):
                self.counted = True
                return not self.looks.strict and self.looks.allows(value)
            case ast.With(items=[ast.withitem(context_expr=lock)], body=body):
                return _is_lock(lock, self.model) and self.block(body)
            case ast.Expr(value=ast.Call() as call):
                effect = self.model.effects.call_effect(call)
                # a project function may take long, whatever it does
                return effect.acts and effect.does_only(_HARMLESS) and not self.model.types.call_targets(call)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=[]):
                absent = all(means_not_there(handler) for handler in handlers)
                parts = [body, orelse, *(handler.body for handler in handlers)]
                return absent and all((leaves(part) and part is orelse) or self.block(part) for part in parts)
        return False

    def _if(self, statement: ast.If) -> bool:
        body, orelse = statement.body, statement.orelse
        if not leaves(body):
            self.others += 1
            return self.looks.allows(statement.test) and self.block([*body, *orelse])
        if isinstance(body[-1], ast.Raise):
            self.others += 1
            return self.looks.allows(statement.test) and self.block(orelse)
        found = self.looks.polls(statement.test, holds=False)
        if not found:
            self.others += 1
            return found is not None and self.block(orelse)
        self.polls += found
        return self.block(orelse)


def leaves(block: list[ast.stmt]) -> bool:
    """Whether a block ends by leaving the loop."""
    match block:
        case [*_, ast.Break() | ast.Return() | ast.Raise()]:
            return True
        case [
            *_,
            ast.Expr(
                value=ast.Call(func=ast.Name(id="exit" | "quit") | ast.Attribute(attr="exit" | "_exit"))
            ),
        ]:
            return True
    return False


def means_not_there(handler: ast.ExceptHandler) -> bool:
    """Whether an exception means that there is nothing yet, rather than a failure: `except queue.Empty`."""
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = [kind.attr if isinstance(kind, ast.Attribute) else getattr(kind, "id", "") for kind in types]
    return bool(names) and vocabulary.NOTHING_THERE.issuperset(names)


def _is_lock(expression: ast.expr, model: SemanticModel) -> bool:
    if model.types.type_of(expression).tag in _LOCKS:
        return True
    match expression:
        case ast.Call(func=ast.Attribute(attr="get_lock"), args=[]):
            return True
        case ast.Subscript(value=inner):
            return _is_lock(inner, model)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return bool(_LOCK_WORDS & words_of(name))
        case ast.Constant(value=str(name)):
            return bool(_LOCK_WORDS & words_of(name))
    return False
