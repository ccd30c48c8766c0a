"""Whether a line runs in each iteration of the enclosing loop or function, or only at intervals."""

from __future__ import annotations

import ast

from rlint.semantics.frequency.path_conditions import PathConditions
from rlint.syntax.syntax_index import FUNCTIONS, HOLD_BODIES, LOOPS, SyntaxIndex


class IterationFrequency:
    """The lines of one file that run in each iteration, as far as the conditions around them determine it.

    `steps` are the calls of the file that take gradient steps: code beside one of them, under the same
    conditions, runs as often as the parameters change.
    """

    def __init__(self, syntax: SyntaxIndex, conditions: PathConditions, steps: list[ast.Call]) -> None:
        self.syntax = syntax
        self.conditions = conditions
        self._known: dict[ast.stmt, bool | None] = {}
        self._every_iteration: dict[ast.stmt, bool | None] = {}
        self._stepping: set[ast.AST] = set()
        for call in steps:
            for ancestor in syntax.ancestors(call):
                if isinstance(ancestor, (*FUNCTIONS, ast.ClassDef)):
                    break
                self._stepping.add(ancestor)

    def each_pass(self, node: ast.AST) -> bool | None:
        """Whether `node` runs in each iteration. False for a condition that usually does not hold (an
        interval, or an unknown one); None if there is no condition up to the innermost loop or function, so
        that the answer depends on how often that runs.
        """
        if node in self.syntax.buried:
            return False
        parents = self.syntax.parents
        child = self.syntax.wholes.of(node)
        while (parent := parents.get(child)) is not None:
            if isinstance(child, ast.stmt):
                if child not in self._known:
                    self._known[child] = self._statement(child, parent)
                return self._known[child]
            if isinstance(parent, ast.Lambda):
                return False
            if isinstance(parent, (ast.IfExp, ast.BoolOp)) and not all(
                self._is_usual(test, taken=taken)
                for test, taken in self.conditions.tests_before(child, parent)
            ):
                return False
            child = parent
        return None

    def _statement(self, statement: ast.stmt, parent: ast.AST) -> bool | None:
        if statement not in self._every_iteration:
            self._judge(self.syntax.block(statement)[0])
        adjacent = self._every_iteration[statement]
        if adjacent is not None or type(parent) in HOLD_BODIES:
            return adjacent
        if isinstance(parent, LOOPS):
            return None if self.syntax.block(statement)[0] is parent.body else False
        if isinstance(parent, ast.If):
            taken = self.syntax.block(statement)[0] is parent.body
            if not self._is_usual(parent.test, taken=taken):
                return False
        return self.each_pass(parent) if isinstance(parent, ast.stmt) else False

    def _judge(self, block: list[ast.stmt]) -> None:
        """Record, for each statement of a block, whether a gradient step is taken beside it, or the iteration
        often ends before it.
        """
        if ast.If not in {type(statement) for statement in block} and self._stepping.isdisjoint(block):
            self._every_iteration.update(dict.fromkeys(block))
            return
        state: bool | None = None
        before: list[bool | None] = []
        for statement in block:
            before.append(state)
            if statement in self._stepping:
                state = True
            elif isinstance(statement, ast.If) and self._skips(statement):
                state = False
        last = max((i for i, statement in enumerate(block) if statement in self._stepping), default=-1)
        for index, statement in enumerate(block):
            known = before[index]
            self._every_iteration[statement] = True if known is None and index < last else known

    def _skips(self, statement: ast.If) -> bool:
        """Whether `if step % n: return` may skip the rest of the iteration, and not only at first."""
        leaves = isinstance(statement.body[-1], (ast.Return, ast.Continue))
        return leaves and not self._is_usual(statement.test, taken=False)

    def _is_usual(self, test: ast.expr, *, taken: bool) -> bool:
        """Whether a condition holds (`taken`) or does not hold in nearly every iteration."""
        return all(guard.is_usual for guard in self.conditions.of_test(test, taken=taken))
