"""Lock sections: code that runs while a lock is held, and the state that the lock guards."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.frozen import frozen
from rlint.models.value_type import TypeTag
from rlint.syntax.last_names import last_name
from rlint.syntax.syntax_index import FUNCTIONS
from rlint.syntax.walk import RUN_LATER, descendants

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis

_TAGS = frozenset({TypeTag.LOCK, TypeTag.CONDITION, TypeTag.SEMAPHORE, TypeTag.SHARED_VALUE})
"""Types of objects that a `with` locks; a shared value holds its own lock."""
_WORDS = frozenset({"lock", "rlock", "mutex", "semaphore", "cond", "condition", "synchronized", "locked"})
_RECEIVERS = frozenset({"self", "cls", "super"})


@frozen
class LockSection:
    """Statements that run while `lock` is held. `node` is the `with`, or the statement that acquires the
    lock; `known` says that it surely is a lock, not only by its name.
    """

    lock: ast.expr
    node: ast.stmt
    body: tuple[ast.stmt, ...]
    known: bool

    @property
    def name(self) -> str:
        """Return the last name in the lock: that of the shared value, if the lock belongs to one."""
        return _name_of(self.lock)


class Locks:
    """The sections of one file."""

    def __init__(self, analysis: FileAnalysis) -> None:
        self.analysis = analysis
        self.syntax = analysis.syntax
        self._guarded: dict[tuple[ast.AST | None, str], frozenset[str]] = {}

    @cached_property
    def sections(self) -> tuple[LockSection, ...]:
        """Return all sections of the file, in source order."""
        found = [*self._blocks(), *self._brackets()]
        return tuple(sorted(found, key=lambda section: (section.node.lineno, section.node.col_offset)))

    def held(self, node: ast.AST) -> tuple[LockSection, ...]:
        """Return the sections of the same function that contain a node, innermost first."""
        if not self._by_statement:
            return ()
        found: list[LockSection] = []
        node = self.syntax.buried.get(node, node)
        for parent in (node, *self.syntax.ancestors(node)):
            if type(parent) in RUN_LATER and parent is not node:
                break
            found += self._by_statement.get(parent, ())
        return tuple(found)

    def is_lock(self, expression: ast.expr) -> bool | None:
        """Whether an expression is a lock. None if only its name suggests it."""
        if _value_lock(expression) is not None:
            return True
        kind = self.analysis.types.type_of(expression)
        if kind:
            return kind.tag in _TAGS
        words = set(_name_of(expression).lower().strip("_").split("_"))
        return (
            None if _WORDS & words or (isinstance(expression, ast.Subscript) and "locks" in words) else False
        )

    def begun_by(self, statement: ast.AST) -> list[LockSection]:
        """Return the sections that a statement begins, in source order."""
        return self._by_node.get(statement, [])

    @cached_property
    def _by_node(self) -> dict[ast.AST, list[LockSection]]:
        found: dict[ast.AST, list[LockSection]] = {}
        for section in self.sections:
            found.setdefault(section.node, []).append(section)
        return found

    def of_same_lock(self, section: LockSection) -> list[LockSection]:
        """Return the sections that hold a lock of the same name in the same class (outside of classes: the
        file).
        """
        return list(self._by_lock.get((self.syntax.class_of(section.node), section.name), ()))

    @cached_property
    def _by_lock(self) -> dict[tuple[ast.AST | None, str], list[LockSection]]:
        found: dict[tuple[ast.AST | None, str], list[LockSection]] = {}
        for section in self.sections:
            found.setdefault((self.syntax.class_of(section.node), section.name), []).append(section)
        return found

    def guarded(self, section: LockSection) -> frozenset[str]:
        """Return the state that a lock guards: the names of attributes, of items' owners and of outer
        variables that any of its sections assigns, mutates by a method or sets through `.value`.
        """
        lock = self.syntax.class_of(section.node), section.name
        if lock not in self._guarded:
            self._guarded[lock] = frozenset(
                name
                for other in self.of_same_lock(section)
                for statement in other.body
                for name in self._changed(statement)
            )
        return self._guarded[lock]

    def _changed(self, statement: ast.stmt) -> Iterator[str]:
        for node in descendants(statement):
            match node:
                case ast.Attribute(attr="value", ctx=ast.Store(), value=owner):
                    yield last_name(owner) or ""
                case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                    yield name
                case ast.Subscript(value=owner, ctx=ast.Store() | ast.Del()):
                    yield last_name(owner) or ""
                case ast.Call(func=ast.Attribute(value=owner)) if not self._has_no_side_effects(node):
                    if self.analysis.names.qualified(owner) is None and last_name(owner) not in _RECEIVERS:
                        yield last_name(owner) or ""

    def _has_no_side_effects(self, call: ast.Call) -> bool:
        return self.analysis.effects.call_effect(call).quiet

    # -- reading -------------------------------------------------------------------------------

    @cached_property
    def _by_statement(self) -> dict[ast.AST, list[LockSection]]:
        found: dict[ast.AST, list[LockSection]] = {}
        for section in self.sections:
            for statement in section.body:
                found.setdefault(statement, []).append(section)
        for node in (*self.syntax.of_type(ast.FunctionDef), *self.syntax.of_type(ast.AsyncFunctionDef)):
            for decorator in getattr(node, "decorator_list", ()):
                name = last_name(decorator.func) if isinstance(decorator, ast.Call) else last_name(decorator)
                if _WORDS & set((name or "").lower().split("_")):
                    assert isinstance(node, FUNCTIONS)
                    for statement in node.body:
                        section = LockSection(decorator, node, tuple(node.body), known=False)
                        found.setdefault(statement, []).append(section)
        return found

    def _blocks(self) -> Iterator[LockSection]:
        for node in self.syntax.of_type(ast.With):
            assert isinstance(node, ast.With)
            for item in node.items:
                verdict = self.is_lock(item.context_expr)
                if verdict is not False:
                    yield LockSection(item.context_expr, node, tuple(node.body), verdict is True)

    def _brackets(self) -> Iterator[LockSection]:
        """Yield the sections from `lock.acquire()` to `lock.release()`, in one block or in the `finally` of
        the `try` that follows.
        """
        for call in self.syntax.written.calls_of(("acquire",)):
            match call:
                case ast.Call(func=ast.Attribute(value=lock)):
                    pass
                case _:
                    continue
            statement = self.syntax.parents.get(call)
            verdict = self.is_lock(lock)
            if isinstance(statement, ast.Expr) and verdict is not False:
                block, index = self.syntax.block(statement)
                body = _until_release(block[index + 1 :], ast.unparse(lock))
                if body is not None:
                    yield LockSection(lock, statement, body, verdict is True)


def _until_release(following: list[ast.stmt], lock: str) -> tuple[ast.stmt, ...] | None:
    for position, statement in enumerate(following):
        if _releases(statement, lock):
            return tuple(following[:position])
        if isinstance(statement, ast.Try) and any(_releases(last, lock) for last in statement.finalbody):
            return tuple(following[: position + 1])
    return None


def _releases(statement: ast.stmt, lock: str) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="release", value=owner))):
            return ast.unparse(owner) == lock
    return False


def _value_lock(expression: ast.expr) -> ast.expr | None:
    """Return the shared value whose own lock an expression is: `counter.get_lock()`."""
    match expression:
        case ast.Call(func=ast.Attribute(attr="get_lock", value=owner), args=[]):
            return owner
    return None


def _name_of(lock: ast.expr) -> str:
    owner = _value_lock(lock)
    if owner is not None:
        return last_name(owner) or ""
    match lock:
        case ast.Call(func=called):
            return last_name(called) or ""
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return key
        case ast.Subscript(value=owner):
            return _name_of(owner)
    return last_name(lock) or ""
