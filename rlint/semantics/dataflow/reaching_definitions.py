"""Reaching definitions: assignments that a use may read, and nodes that may run between two places."""

from __future__ import annotations

import ast
import itertools
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import Binding, BindingKind, Scope
from rlint.syntax.syntax_index import LOOPS, TRIES, SyntaxIndex
from rlint.syntax.walk import is_in

MAX_DEFINITIONS = 100
"""In 3000 measured files of projects and of the standard library, at most 30 definitions of a name reach a
use. Comparing all definitions of a name takes quadratic time; above this number they are not distinguished.
"""

_WITH_BLOCKS = frozenset({ast.If, ast.With, ast.AsyncWith, *LOOPS})
_COMPOUND = (*LOOPS, *TRIES, ast.If, ast.With, ast.AsyncWith, ast.Match)


class ReachingDefinitions:
    """Definitions and execution order in one file. Structured code only: no jumps are followed except the
    back edges of loops. That is conservative: a definition that can reach a use is never left out.
    """

    def __init__(self, syntax: SyntaxIndex) -> None:
        self.syntax = syntax
        self._cache: dict[ast.Name, list[Binding]] = {}
        self._variables: dict[tuple[str, Scope], _Variable] = {}

    def reaching(self, name: ast.Name) -> list[Binding]:
        """Return the bindings whose value `name` may have at its position.

        For a name bound in another scope than the one that uses it (a closure, a global), all
        bindings of that scope. Empty for builtins.
        """
        known = self._cache.get(name)
        if known is None:
            known = self._cache[name] = self._reaching(name)
        return known

    def before(self, name: str, statement: ast.AST, scope: Scope) -> list[Binding]:
        """Return the bindings of `name` in `scope` that may hold just before `statement` runs."""
        variable = self._variable(name, scope)
        if len(variable.bindings) <= 1 or variable.rebound_in_nested_function:
            return variable.bindings
        return self._backwards(statement, scope, variable)

    def _variable(self, name: str, scope: Scope) -> _Variable:
        known = self._variables.get((name, scope))
        if known is None:
            known = self._variables[name, scope] = _Variable(name, scope, self.syntax)
        return known

    def _reaching(self, name: ast.Name) -> list[Binding]:
        scope = self.syntax.scope(name)
        owner = scope.lookup(name.id)
        if owner is None:
            return []
        bindings = owner.bindings[name.id]
        if len(bindings) == 1:
            return bindings if bindings[0].kind is not BindingKind.ANNOTATE else []
        if owner is not scope:
            nearest = scope
            while nearest.is_comprehension and nearest.parent is not None:
                nearest = nearest.parent
            if nearest is not owner:
                return self._variable(name.id, owner).bindings
        if owner.is_comprehension or isinstance(owner.node, ast.Lambda):
            return bindings
        statement = self.syntax.statement(name)
        found = self.before(name.id, statement, owner)
        if isinstance(statement, ast.While):  # its test runs after each iteration, too
            again = self._variable(name.id, owner).before_pass(statement)
            return list(dict.fromkeys((*found, *again)))
        return found

    def _backwards(self, statement: ast.AST, scope: Scope, variable: _Variable) -> list[Binding]:
        """Walk backwards from a statement, out of its enclosing blocks, up to a binding that hides all
        earlier ones. If there are too many on the path, return all of them.
        """
        syntax = self.syntax
        found: dict[Binding, None] = {}
        current = statement
        while True:
            parent = syntax.parents.get(current)
            if parent is None:
                return list(found)
            block: list[ast.stmt] | None = None
            if isinstance(current, ast.stmt):
                block, index = syntax.block(current)
                for sibling in variable.binding_before(block, index):
                    found.update(dict.fromkeys(variable.leaving(sibling)))
                    if len(found) > MAX_DEFINITIONS:
                        return variable.bindings
                    if variable.always_bound_by(sibling):
                        return list(found)
            if parent is scope.node:
                found.update(dict.fromkeys(b for b in variable.bindings if b.kind is BindingKind.PARAMETER))
                return list(found)
            if isinstance(parent, LOOPS):
                if block is parent.body:
                    target = [
                        b
                        for b in variable.inside(parent)
                        if b.kind is BindingKind.FOR and b.statement is parent
                    ]
                    if target:
                        found.update(dict.fromkeys(target))
                        return list(found)
                # after the body, or through the back edge in the next iteration
                if block is parent.body:
                    found.update(dict.fromkeys(variable.before_pass(parent)))
                elif block is not None:
                    found.update(dict.fromkeys(variable.inside(parent)))
            elif isinstance(parent, (ast.With, ast.AsyncWith)):
                entered = [
                    b for b in variable.inside(parent) if b.kind is BindingKind.WITH and b.statement is parent
                ]
                if entered:
                    found.update(dict.fromkeys(entered))
                    return list(found)
            elif isinstance(parent, TRIES) and block is not parent.body:
                for part in (*parent.body, *parent.handlers, *parent.orelse):
                    if part is not current:
                        found.update(dict.fromkeys(variable.inside(part)))
            elif isinstance(parent, ast.ExceptHandler):
                found.update(dict.fromkeys(b for b in variable.inside(parent) if b.node is parent))
            if isinstance(parent, (ast.If, ast.With, ast.AsyncWith, ast.Match, ast.match_case)):
                found.update(dict.fromkeys(variable.in_headers(parent)))
            if len(found) > MAX_DEFINITIONS:
                return variable.bindings
            current = parent

    def between(self, first: ast.AST, second: ast.AST) -> list[ast.AST] | None:
        """Return the nodes that may run after `first` and before `second`, or None if `first` does not always
        run before `second` (then nothing is known).

        Statements are returned whole; of the statements that contain `second`, only the parts that run before
        it (an enclosing loop is returned whole, for its earlier iterations).
        """
        syntax = self.syntax
        first_statement, second_statement = syntax.statement(first), syntax.statement(second)
        if syntax.function(first) is not syntax.function(second):
            return None
        if first_statement is second_statement:
            return []
        chain: list[ast.AST] = [second_statement, *syntax.ancestors(second_statement)]
        home = syntax.parents[first_statement]
        if home not in chain:
            return None
        block = _block_with(home, first_statement)
        below = chain[chain.index(home) - 1]
        if block is None or below not in block or _index(block, below) < _index(block, first_statement):
            return None
        if isinstance(first_statement, _COMPOUND) and not _in_header(first, first_statement, syntax):
            return None
        between: list[ast.AST] = []
        in_its_block = below is first_statement and not isinstance(first_statement, (ast.For, ast.AsyncFor))
        if isinstance(first_statement, _COMPOUND) and not in_its_block:
            between.append(first_statement)
        between += block[_index(block, first_statement) + 1 : _index(block, below)]
        for step in range(chain.index(home) - 1, 0, -1):
            outer, inner = chain[step], chain[step - 1]
            inner_block = _block_with(outer, inner)
            if isinstance(outer, LOOPS):
                # the test of a `while` is evaluated again before each iteration
                if outer is first_statement and isinstance(outer, ast.While) and inner_block is outer.body:
                    between += inner_block[: _index(inner_block, inner)]
                else:
                    between.append(outer)
                continue
            between += _header(outer)
            between += _passed_in(outer, inner, inner_block)
            if inner_block is not None:
                between += inner_block[: _index(inner_block, inner)]
        if isinstance(second_statement, LOOPS) and not _in_header(second, second_statement, syntax):
            between.append(second_statement)
        if isinstance(second_statement, ast.While):
            between.append(second_statement)
        return between

    def keeps(self, name: ast.Name, first: ast.AST, second: ast.AST) -> bool:
        """Whether a variable is never rebound after `first` and before `second`. The same bindings may reach
        both places although one of them runs in between: `if done: x = y`, in a loop. False if `first` does
        not always run before `second`.
        """
        scope = self.syntax.scope(name).lookup(name.id)
        parts = self.between(first, second)
        if scope is None or parts is None:
            return scope is None
        variable = self._variable(name.id, scope)
        if variable.rebound_in_nested_function or any(variable.binds_in(part) for part in parts):
            return False
        statement = self.syntax.statement(first)
        return all(binding.statement is not statement for binding in variable.bindings)

    def bound_each_pass(self, name: ast.Name) -> bool:
        """Whether a local variable is always bound again before a loop around `name` reaches it once more, so
        that no value of an earlier pass is left; true outside of loops.
        """
        syntax = self.syntax
        scope = syntax.scope(name).lookup(name.id)
        if scope is None:
            return False
        current: ast.AST = syntax.statement(name)
        if is_in(scope.node, current):
            return True  # a parameter of a lambda, or the variable of a comprehension
        if isinstance(current, ast.While):
            return False  # its test runs again after each pass
        variable = self._variable(name.id, scope)
        while current is not scope.node:
            parent = syntax.parents[current]
            block: list[ast.stmt] | None = None
            if isinstance(current, ast.stmt):
                block, index = syntax.block(current)
                if any(map(variable.always_bound_by, variable.binding_before(block, index))):
                    return True
            if isinstance(parent, LOOPS) and block is not parent.orelse:
                return any(
                    each.kind is BindingKind.FOR and each.statement is parent for each in variable.bindings
                )
            current = parent
        return True


class _Variable:
    """The bindings of one variable, by the statements that contain them."""

    def __init__(self, name: str, scope: Scope, syntax: SyntaxIndex) -> None:
        self.bindings = [
            binding for binding in scope.bindings.get(name, ()) if binding.kind is not BindingKind.ANNOTATE
        ]
        self._scope = scope
        self._tree = syntax
        self._always: dict[ast.AST, bool] = {}
        self._leaving: dict[ast.AST, list[Binding]] = {}

    @cached_property
    def rebound_in_nested_function(self) -> bool:
        """Whether a nested function rebinds it, at an unknown time."""
        return any(
            binding.kind in _ASSIGNING and self._tree.scope(binding.node) is not self._scope
            for binding in self.bindings
        )

    def _binding_statement(self, binding: Binding) -> ast.AST:
        statement = binding.statement
        return self._tree.statement(statement) if isinstance(statement, ast.NamedExpr) else statement

    @cached_property
    def _binding_statements(self) -> frozenset[ast.AST]:
        """Return the statements that bind it."""
        return frozenset(map(self._binding_statement, self.bindings))

    @cached_property
    def _inside(self) -> dict[ast.AST, list[Binding]]:
        found: dict[ast.AST, list[Binding]] = {}
        for binding in self.bindings:
            current: ast.AST | None = self._binding_statement(binding)
            while current is not None and current is not self._scope.node:
                found.setdefault(current, []).append(binding)
                current = self._tree.parents.get(current)
        return found

    @cached_property
    def _places(self) -> dict[int, list[int]]:
        """Return the positions, in each block, of the statements that bind it."""
        found: dict[int, list[int]] = {}
        for statement in self._inside:
            if isinstance(statement, ast.stmt):
                block, index = self._tree.block(statement)
                found.setdefault(id(block), []).append(index)
        for places in found.values():
            places.sort()
        return found

    def in_headers(self, node: ast.AST) -> list[Binding]:
        """Return the bindings made by patterns and conditions."""
        return (
            [binding for binding in self.inside(node) if binding.kind in _IN_HEADERS]
            if self._has_headers
            else []
        )

    @cached_property
    def _has_headers(self) -> bool:
        return any(binding.kind in _IN_HEADERS for binding in self.bindings)

    def inside(self, node: ast.AST) -> list[Binding]:
        """Return the bindings within a statement, its blocks included."""
        return self._inside.get(node, [])

    def leaving(self, statement: ast.AST) -> list[Binding]:
        """Return the bindings of a statement that may hold after it: those of its blocks that no later one
        hides.
        """
        inside = self.inside(statement)
        if len(inside) <= 1 or type(statement) not in _WITH_BLOCKS:
            return inside
        known = self._leaving.get(statement)
        if known is None:
            known = self._leaving[statement] = self._find_leaving(statement)
        return known

    def _find_leaving(self, statement: ast.AST) -> list[Binding]:
        found: dict[Binding, None] = {}
        if isinstance(statement, ast.If):
            found.update(dict.fromkeys(self.in_headers(statement)))
            for block in _branches(statement):
                if not _leaves(block):
                    found.update(dict.fromkeys(self._leaving_block(block)))
        elif isinstance(statement, (ast.With, ast.AsyncWith)):
            if _may_stop_half_way(statement):
                return self.inside(statement)
            found.update(dict.fromkeys(self._of_header(statement)))
            found.update(dict.fromkeys(self._leaving_block(statement.body)))
        else:
            assert isinstance(statement, LOOPS)
            if statement.orelse:
                return self.inside(statement)
            found.update(dict.fromkeys(self._of_header(statement)))
            found.update(dict.fromkeys(self.after_pass(statement)))
        return list(found)

    def after_pass(self, loop: ast.For | ast.AsyncFor | ast.While) -> list[Binding]:
        """Return the bindings in a loop that may hold at the end of an iteration."""
        if len(self.inside(loop)) <= 1:
            return self.inside(loop)
        found = [*self._of_header(loop), *self._leaving_block(loop.body)]
        for jump in self._tree.jumps.get(loop, ()):
            found += self._at_jump(jump, loop)
        return found

    def before_pass(self, loop: ast.For | ast.AsyncFor | ast.While) -> list[Binding]:
        """Return the bindings in a loop that may hold at the start of the next iteration, which follows no
        `break`.
        """
        if len(self.inside(loop)) <= 1:
            return self.inside(loop)
        found = [*self._of_header(loop), *self._leaving_block(loop.body)]
        for jump in self._tree.jumps.get(loop, ()):
            if isinstance(jump, ast.Continue):
                found += self._at_jump(jump, loop)
        return found

    def _at_jump(self, jump: ast.Break | ast.Continue, loop: ast.AST) -> list[Binding]:
        """Return the bindings of this iteration of a loop that may hold at its `break` or `continue`."""
        around = list(itertools.takewhile(lambda parent: parent is not loop, self._tree.ancestors(jump)))
        if not all(isinstance(parent, (ast.If, ast.With, ast.AsyncWith)) for parent in around):
            return self.inside(loop)  # a `finally` may bind it on the way
        found: dict[Binding, None] = {}
        for place in (jump, *around):
            assert isinstance(place, ast.stmt)
            if place is not jump:
                found.update(dict.fromkeys((*self.in_headers(place), *self._of_header(place))))
            block, index = self._tree.block(place)
            for sibling in self.binding_before(block, index):
                found.update(dict.fromkeys(self.leaving(sibling)))
                if self.always_bound_by(sibling):
                    return list(found)
        return list(found)

    def _leaving_block(self, block: list[ast.stmt]) -> list[Binding]:
        found: dict[Binding, None] = {}
        for statement in self.binding_before(block, len(block)):
            found.update(dict.fromkeys(self.leaving(statement)))
            if self.always_bound_by(statement):
                break
        return list(found)

    def _of_header(self, statement: ast.AST) -> list[Binding]:
        """Return the bindings of a statement's header."""
        bodies = {id(child) for child in getattr(statement, "body", ())}
        found = []
        for binding in self.inside(statement):
            current: ast.AST | None = self._binding_statement(binding)
            child = current
            while current is not None and current is not statement:
                child, current = current, self._tree.parents.get(current)
            if id(child) not in bodies:
                found.append(binding)
        return found

    def binding_before(self, block: list[ast.stmt], index: int) -> Iterator[ast.stmt]:
        """Yield the statements of a block that bind the variable before a position, starting with the
        last.
        """
        places = self._places.get(id(block))
        if places is None:
            return iter(())
        return (block[places[number]] for number in range(bisect_left(places, index) - 1, -1, -1))

    def binds_in(self, part: ast.AST) -> bool:
        """Whether any part of a statement binds the variable."""
        return any(is_in(binding.node, part) for binding in self.bindings)

    def always_bound_by(self, statement: ast.AST) -> bool:
        """Whether every path through the statement binds the variable."""
        known = self._always.get(statement)
        if known is None:
            known = self._always[statement] = self._always_bound_by(statement)
        return known

    def _always_bound_by(self, statement: ast.AST) -> bool:
        if type(statement) in _SIMPLE and statement in self._binding_statements:
            return True
        if isinstance(statement, ast.If):
            return bool(statement.orelse) and all(
                _leaves(block) or self._in_block(block) for block in (statement.body, statement.orelse)
            )
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            entered = any(
                b.kind is BindingKind.WITH and b.statement is statement for b in self.inside(statement)
            )
            return entered or (not _may_stop_half_way(statement) and self._in_block(statement.body))
        if isinstance(statement, TRIES):
            # the program continues after the end of the body, or of a handler
            return self._in_block(statement.finalbody) or (
                (self._in_block(statement.body) or self._in_block(statement.orelse))
                and all(_leaves(each.body) or self._in_block(each.body) for each in statement.handlers)
            )
        return False

    def _in_block(self, block: list[ast.stmt]) -> bool:
        return any(self.inside(child) and self.always_bound_by(child) for child in block)


def _may_stop_half_way(statement: ast.With | ast.AsyncWith) -> bool:
    """Whether the program continues after a block that an exception has ended: `with suppress(KeyError):`."""
    return any(
        isinstance(item.context_expr, ast.Call) and last_name(item.context_expr.func) == "suppress"
        for item in statement.items
    )


_IN_HEADERS = (BindingKind.MATCH, BindingKind.WALRUS)
"""Bindings made by patterns, even of cases that are not taken, and by conditions."""
_ASSIGNING = (BindingKind.ASSIGN, BindingKind.AUGMENT, BindingKind.FOR, BindingKind.WITH)
_SIMPLE = frozenset(
    {
        ast.Assign,
        ast.AnnAssign,
        ast.AugAssign,
        ast.Import,
        ast.ImportFrom,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.Delete,
        ast.Expr,
        ast.Return,
    }
)


def _branches(statement: ast.If) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of an `if`, of its `elif`s, which the syntax tree nests, and of its `else`."""
    while True:
        yield statement.body
        match statement.orelse:
            case [ast.If() as another]:
                statement = another
            case block:
                yield block
                return


def _leaves(block: list[ast.stmt]) -> bool:
    return bool(block) and isinstance(block[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def _block_with(parent: ast.AST, child: ast.AST) -> list[ast.stmt] | None:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and any(statement is child for statement in block):
            return block
    return None


def _index(block: list[ast.stmt], statement: ast.AST) -> int:
    return next(index for index, candidate in enumerate(block) if candidate is statement)


def _header(statement: ast.AST) -> Iterator[ast.AST]:
    for name in ("test", "subject", "iter"):
        part = getattr(statement, name, None)
        if isinstance(part, ast.AST):
            yield part
    yield from getattr(statement, "items", ())
    if isinstance(statement, ast.ClassDef):
        yield from (*statement.bases, *statement.keywords, *statement.decorator_list)


def _passed_in(outer: ast.AST, inner: ast.AST, block: list[ast.stmt] | None) -> Iterator[ast.AST]:
    """Yield what a statement runs before one of its parts, except its header and the rest of that part's
    block.
    """
    if isinstance(outer, TRIES) and block is not outer.body:
        yield from outer.body
        if block is outer.finalbody:
            yield from (*outer.handlers, *outer.orelse)
        elif block is None and type(outer) is not ast.Try:  # several handlers of `except*` may run
            yield from itertools.takewhile(lambda handler: handler is not inner, outer.handlers)
    elif isinstance(outer, ast.ExceptHandler) and outer.name:
        yield outer
    elif isinstance(outer, ast.Match):
        for case in outer.cases:
            yield case.pattern
            if case.guard is not None:
                yield case.guard
            if case is inner:
                return


def _in_header(node: ast.AST, statement: ast.AST, syntax: SyntaxIndex) -> bool:
    current = node
    while syntax.parents.get(current) is not statement:
        if current is statement:
            return True
        current = syntax.parents[current]
    return not isinstance(current, (ast.stmt, ast.ExceptHandler, ast.match_case))
