"""Which assignments a use may see, and what may have changed between two places."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.syntax.scopes import Binding, How, Scope
from rlint.syntax.tree import LOOPS, Tree

_HIDDEN = (How.ANNOTATE,)


class Flow:
    """Definitions and order of execution in one file. Structured code only: no jumps are followed
    but the back edge of loops, which is enough to be right in one direction: a definition that
    can reach a use is never left out.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._cache: dict[ast.Name, list[Binding]] = {}

    def reaching(self, name: ast.Name) -> list[Binding]:
        """The bindings whose value `name` may have where it stands.

        For a name bound in another scope than the one that uses it (a closure, a global), all
        bindings of that scope. Empty for builtins.
        """
        known = self._cache.get(name)
        if known is None:
            known = self._cache[name] = self._reaching(name)
        return known

    def before(self, name: str, statement: ast.AST, scope: Scope) -> list[Binding]:
        """The bindings of `name` in `scope` that may hold just before `statement` runs."""
        every = [binding for binding in scope.bindings.get(name, ()) if binding.how not in _HIDDEN]
        if len(every) <= 1:
            return every
        if any(
            self.tree.scope(binding.node) is not scope
            for binding in every
            if binding.how in (How.ASSIGN, How.AUGMENT, How.FOR, How.WITH)
        ):
            return every  # a nested function rebinds it: order is unknown
        return self._backwards(statement, scope, every)

    def _reaching(self, name: ast.Name) -> list[Binding]:
        scope = self.tree.scope(name)
        owner = scope.lookup(name.id)
        if owner is None:
            return []
        if owner is not scope:
            nearest = scope
            while nearest.is_comprehension and nearest.parent is not None:
                nearest = nearest.parent
            if nearest is not owner:
                return [binding for binding in owner.bindings[name.id] if binding.how not in _HIDDEN]
        if owner.is_comprehension or isinstance(owner.node, ast.Lambda):
            return owner.bindings[name.id]
        return self.before(name.id, self.tree.statement(name), owner)

    def _backwards(self, statement: ast.AST, scope: Scope, every: list[Binding]) -> list[Binding]:
        parents = self.tree.parents
        homes = {binding: self._home(binding) for binding in every}
        found: list[Binding] = []
        current = statement
        while True:
            parent = parents.get(current)
            if parent is None:
                return found
            block = _block_with(parent, current)
            if block is not None:
                for sibling in reversed(block[: _index(block, current)]):
                    inside = [binding for binding in every if _within(homes[binding], sibling, parents)]
                    if not inside:
                        continue
                    found.extend(binding for binding in inside if binding not in found)
                    if any(homes[binding] is sibling for binding in inside) and isinstance(sibling, _SIMPLE):
                        return found
                    if self._always_binds(sibling, inside, homes):
                        return found
            if isinstance(parent, LOOPS) and block is parent.body:
                # the back edge: what the rest of the body binds may be seen in the next pass
                target = [b for b in every if b.how is How.FOR and b.statement is parent]
                if target:
                    found.extend(b for b in target if b not in found)
                    return found
                again = [b for b in every if _within(homes[b], parent, parents) and b not in found]
                found.extend(again)
            elif isinstance(parent, (ast.With, ast.AsyncWith)):
                entered = [b for b in every if b.how is How.WITH and b.statement is parent]
                if entered:
                    found.extend(entered)
                    return found
            elif isinstance(parent, ast.Try) and block is not parent.body:
                inside = [
                    b
                    for part in (*parent.body, *parent.handlers, *parent.orelse)
                    for b in every
                    if _within(homes[b], part, parents) and part is not current
                ]
                found.extend(b for b in inside if b not in found)
            elif isinstance(parent, ast.ExceptHandler):
                found.extend(b for b in every if b.node is parent and b not in found)
            if parent is scope.node:
                found.extend(b for b in every if b.how is How.PARAMETER and b not in found)
                return found
            current = parent

    def _home(self, binding: Binding) -> ast.AST:
        node = binding.statement
        if isinstance(node, ast.NamedExpr):
            return self.tree.statement(node)
        return node

    def _always_binds(self, statement: ast.AST, inside: list[Binding], homes: dict[Binding, ast.AST]) -> bool:
        """Does running `statement` bind the name on every path through it?"""
        if isinstance(statement, ast.If):
            return bool(statement.orelse) and all(
                any(
                    homes[b] is child
                    or (self._always_binds(child, inside, homes) and _holds(child, homes, inside, self.tree))
                    for child in block
                    for b in inside
                )
                or _leaves(block)
                for block in (statement.body, statement.orelse)
            )
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            return any(
                homes[b] is statement or any(homes[b] is child for child in statement.body) for b in inside
            )
        return False

    def between(self, first: ast.AST, second: ast.AST) -> list[ast.AST] | None:
        """The nodes that may run after `first` and before `second`, or None where `first` does not
        always run before `second` (then nothing can be said).

        Statements come whole; of the statements on the way down to `second` only the parts that
        run before it (a loop on the way comes whole, for its earlier passes).
        """
        tree = self.tree
        first_statement, second_statement = tree.statement(first), tree.statement(second)
        if tree.function(first) is not tree.function(second):
            return None
        if first_statement is second_statement:
            return []
        chain: list[ast.AST] = [second_statement, *tree.ancestors(second_statement)]
        home = tree.parents[first_statement]
        if home not in chain:
            return None
        block = _block_with(home, first_statement)
        below = chain[chain.index(home) - 1]
        if block is None or below not in block or _index(block, below) < _index(block, first_statement):
            return None
        if isinstance(first_statement, (*LOOPS, ast.If, ast.With, ast.Try)) and not _in_header(
            first, first_statement, tree
        ):
            return None
        between: list[ast.AST] = []
        if isinstance(first_statement, (*LOOPS, ast.If, ast.With, ast.Try)):
            between.append(first_statement)
        between += block[_index(block, first_statement) + 1 : _index(block, below)]
        for step in range(chain.index(home) - 1, 0, -1):
            outer, inner = chain[step], chain[step - 1]
            if isinstance(outer, LOOPS):
                between.append(outer)
                continue
            inner_block = _block_with(outer, inner)
            between += _header(outer)
            if isinstance(outer, ast.Try) and inner_block is not outer.body:
                between += outer.body
            if inner_block is not None:
                between += inner_block[: _index(inner_block, inner)]
        if isinstance(second_statement, LOOPS) and not _in_header(second, second_statement, tree):
            between.append(second_statement)
        if isinstance(second_statement, ast.While):
            between.append(second_statement)
        return between


_SIMPLE = (
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef,
    ast.ClassDef, ast.Delete, ast.Expr, ast.Return,
)  # fmt: skip


def _holds(child: ast.AST, homes: dict[Binding, ast.AST], inside: list[Binding], tree: Tree) -> bool:
    return any(_within(homes[binding], child, tree.parents) for binding in inside)


def _leaves(block: list[ast.stmt]) -> bool:
    return bool(block) and isinstance(block[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def _within(node: ast.AST, ancestor: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    current: ast.AST | None = node
    while current is not None:
        if current is ancestor:
            return True
        current = parents.get(current)
    return False


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


def _in_header(node: ast.AST, statement: ast.AST, tree: Tree) -> bool:
    current = node
    while tree.parents.get(current) is not statement:
        if current is statement:
            return True
        current = tree.parents[current]
    return not isinstance(current, (ast.stmt, ast.ExceptHandler, ast.match_case))
