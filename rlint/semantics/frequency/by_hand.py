"""Intervals kept by hand: counters that are reset when they are full, and flags that are set from time to
time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from rlint.models import vocabulary
from rlint.regex import regex
from rlint.semantics.dataflow.reaching_definitions import ReachingDefinitions
from rlint.syntax.assignments import value_assigned
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import FUNCTIONS, LOOPS, SyntaxIndex
from rlint.syntax.walk import descendants

_UP = (ast.GtE, ast.Gt, ast.Eq)
_DOWN = (ast.LtE, ast.Lt, ast.Eq)
_ROUNDS = regex(r"epoch|episode|begin|start|end|finish|reset|init|eval")
"""Names of methods that run at the beginning or end of a training round."""
_CONDITIONS = (ast.Compare, ast.BoolOp, ast.UnaryOp)


class ByHand:
    """The counters and flags of one file."""

    def __init__(self, syntax: SyntaxIndex, definitions: ReachingDefinitions) -> None:
        self._syntax = syntax
        self._definitions = definitions

    def modulo(self, counter: ast.expr) -> ast.BinOp | None:
        """Return the `(count + 1) % n` that a counter is set to in each iteration."""
        found = None
        for value in self._values(counter):
            match value:
                case ast.Constant():
                    pass
                case ast.BinOp(op=ast.Mod()) if found is None and self._mentions(value.left, counter):
                    found = value
                case _:
                    return None
        return found

    def length(self, test: ast.Compare) -> ast.expr | None:
        """Return the number of iterations after which a test holds that resets its own counter: `if
        self.since >= n: self.since = 0`, or `if self.left <= 0: self.left = n`. None for other tests.
        """
        counter, op, bound = test.left, test.ops[0], test.comparators[0]
        if not isinstance(counter, (ast.Name, ast.Attribute)) or not isinstance(op, (*_UP, *_DOWN)):
            return None
        text = self._text(counter)
        counted = self._counted.get(text)
        if counted is None:
            return None
        set_to = self._set_back(test, text)
        if set_to is None:
            return None
        if counted is ast.Add and isinstance(op, _UP) and _is_number(set_to, most=1):
            return bound
        if counted is ast.Sub and isinstance(op, _DOWN) and _is_number(bound, most=1):
            return set_to
        return None

    def flag(self, test: ast.expr) -> ast.expr | ast.stmt | None:
        """Return the condition that a flag is set to; if it is set to True under some condition and reset to
        False, return the statement that sets it.
        """
        if not isinstance(test, (ast.Name, ast.Attribute)):
            return None
        given: list[tuple[ast.expr, ast.stmt]] = []
        is_set_back = False
        for value, statement in self._stores(test):
            if value is None:
                return None
            if isinstance(value, ast.Constant) and not value.value:
                is_set_back = is_set_back or self._is_in_the_pass(statement, test)
            else:
                given.append((value, statement))
        if len(given) != 1:
            return None
        value, statement = given[0]
        if isinstance(value, _CONDITIONS):
            return value
        is_on = isinstance(value, ast.Constant) and value.value is True
        return statement if is_on and is_set_back else None

    def cleared(self, kept: ast.expr) -> Iterator[ast.stmt]:
        """Yield the statements that set an attribute to `None`, except those in error handlers."""
        for value, statement in self._stores(kept) if isinstance(kept, ast.Attribute) else ():
            if isinstance(value, ast.Constant) and value.value is None:
                around = self._syntax.ancestors(statement)
                if not any(isinstance(outer, ast.ExceptHandler) for outer in around):
                    yield statement

    def is_once_per_round(self, test: ast.expr, *, taken: bool) -> bool:
        """Whether a flag of `self` is cleared in the branch that it guards, and set only at the beginning or
        end of a round: `if self.wants_statistics: self.wants_statistics = False`.
        """
        setters = self._setters_of_flag(test, taken=taken)
        rounds = [name for name in setters or () if name not in vocabulary.CONSTRUCTORS]
        return bool(rounds) and all(map(_ROUNDS.search, rounds))

    def is_first_time(self, test: ast.expr, *, taken: bool) -> bool:
        """Whether a flag of `self` that only the constructor clears is set in the branch that runs without
        it, or in a method that the branch calls: `if not self.started: self.start()`. Other code may set
        flags that ask for something again.
        """
        if taken:
            return False
        setters = self._setters_of_flag(test, taken=False) or frozenset()
        return bool(setters) and setters <= vocabulary.CONSTRUCTORS

    def _setters_of_flag(self, test: ast.expr, *, taken: bool) -> frozenset[str] | None:
        """Return the names of the functions that let the branch of a flag run again; None if the branch does
        not end that itself, or if the flag has other values.
        """
        if not isinstance(test, ast.Attribute) or test.attr not in self._attribute_stores:
            return None
        branch = self._branch_of(test, taken=taken)
        if branch is None:
            return None
        called = frozenset(_own_methods_called(branch))
        found, is_cleared = set[str](), False
        for value, statement in self._stores(test):
            if not isinstance(value, ast.Constant) or not isinstance(value.value, bool):
                return None
            function = self._syntax.function(statement)
            if value.value is taken:
                found.add(function.name if isinstance(function, FUNCTIONS) else "")
            elif statement in branch.body or (
                isinstance(function, FUNCTIONS) and function.name in called and statement in function.body
            ):
                is_cleared = True
        return frozenset(found) if is_cleared else None

    def _branch_of(self, test: ast.expr, *, taken: bool) -> ast.If | None:
        """Return the statement whose body runs if a test has this outcome, alone or with others."""
        child: ast.AST = test
        for ancestor in self._syntax.ancestors(test):
            if isinstance(ancestor, ast.If):
                return ancestor if taken and child is ancestor.test else None
            if isinstance(ancestor, ast.UnaryOp) and isinstance(ancestor.op, ast.Not) and child is test:
                child, taken = ancestor, not taken
                continue
            if not isinstance(ancestor, ast.BoolOp) or not isinstance(ancestor.op, ast.And):
                return None
            child = ancestor
        return None

    def _is_in_the_pass(self, statement: ast.stmt, test: ast.expr) -> bool:
        """Whether a flag is cleared while the program runs on: in a method, or in the same loop."""
        function = self._syntax.function(statement)
        if isinstance(test, ast.Attribute):
            return isinstance(function, FUNCTIONS) and function.name not in vocabulary.CONSTRUCTORS
        return self._loop_around(statement) is self._loop_around(test)

    def _loop_around(self, node: ast.AST) -> ast.AST | None:
        for ancestor in self._syntax.ancestors(node):
            if isinstance(ancestor, (*LOOPS, *FUNCTIONS)):
                return ancestor
        return None

    def _set_back(self, test: ast.Compare, counter: str) -> ast.expr | None:
        """Return the value that the branch of a test resets the counter to."""
        child: ast.AST = test
        for ancestor in self._syntax.ancestors(test):
            if isinstance(ancestor, ast.BoolOp) and isinstance(ancestor.op, ast.And):
                child = ancestor
                continue
            if not isinstance(ancestor, ast.If) or child is not ancestor.test:
                return None
            for statement in ancestor.body:
                if (
                    isinstance(statement, ast.Assign)
                    and len(statement.targets) == 1
                    and self._text(statement.targets[0]) == counter
                ):
                    return statement.value
            return None
        return None

    def _values(self, target: ast.expr) -> Iterator[ast.expr | None]:
        for value, _ in self._stores(target):
            yield value

    def _stores(self, target: ast.expr) -> Iterator[tuple[ast.expr | None, ast.stmt]]:
        """Yield the values assigned to a variable or attribute of `self`, with their statements; None for a
        value that is not plain.
        """
        if isinstance(target, ast.Name):
            for binding in self._definitions.reaching(target):
                is_plain = binding.kind is BindingKind.ASSIGN and not binding.path
                if isinstance(binding.statement, ast.stmt):
                    yield binding.value if is_plain else None, binding.statement
        elif isinstance(target, ast.Attribute):
            for store in self._attribute_stores.get(target.attr, ()):
                parent = self._syntax.parents[store]
                if isinstance(parent, ast.stmt):
                    is_same = self._text(store) == self._text(target)
                    yield value_assigned(store, self._syntax.parents) if is_same else None, parent

    @cached_property
    def _attribute_stores(self) -> dict[str, list[ast.Attribute]]:
        found: dict[str, list[ast.Attribute]] = {}
        for store in self._syntax.written.attribute_stores:
            found.setdefault(store.attr, []).append(store)
        return found

    @cached_property
    def _counted(self) -> dict[str, type[ast.operator]]:
        """Return the variables and attributes that are incremented or decremented by one."""
        found: dict[str, type[ast.operator]] = {}
        for counting in self._syntax.of_type(ast.AugAssign):
            assert isinstance(counting, ast.AugAssign)
            if _is_number(counting.value, most=1) and isinstance(counting.op, (ast.Add, ast.Sub)):
                found[self._text(counting.target)] = type(counting.op)
        return found

    def _mentions(self, expression: ast.expr, target: ast.expr) -> bool:
        kind, text = type(target), self._text(target)
        return any(isinstance(node, kind) and self._text(node) == text for node in descendants(expression))

    def _text(self, node: ast.AST) -> str:
        return self._syntax.text[slice(*self._syntax.positions.span(node))]


def _own_methods_called(branch: ast.If) -> Iterator[str]:
    """Yield the names of the methods of `self` that statements of a branch call."""
    for statement in branch.body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name))):
                yield name


def _is_number(node: ast.expr, *, most: int) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and abs(node.value) <= most
