"""Does a line run in each pass of the loop or function around it, or only every so often?"""

from __future__ import annotations

import ast

from rlint.regex import regex
from rlint.semantics.dataflow.reaching_definitions import ReachingDefinitions
from rlint.semantics.frequency.intervals import interval_of
from rlint.semantics.frequency.path_conditions import constant_period
from rlint.syntax.last_names import last_name
from rlint.syntax.syntax_index import FUNCTIONS, HOLD_BODIES, LOOPS, SyntaxIndex

OFTEN = 10
"""An interval of fewer passes than this is no pause worth the name."""

_REACHED_SOON = regex(
    r"batch|warm|start|^min_|minimum|initial|random_steps|burn|explor|^len$|size|filled|capacity"
)
_PACES = regex(r"interval|freq|every|period|update|sync|since|last|target|copy|lag|cycle")
_USUALLY_SET = regex(r"train|learn|ready|enough|can_sample|full|filled|started")
_EPISODE_END = regex(r"^(done|dones|terminated|truncated|terminal|finished)$|_done$")


class Pacing:
    """Which lines of one file run in each pass, as far as the conditions around them tell.

    `steps` are the calls of the file that take gradient steps: what stands beside one of them, under
    the same conditions, runs as often as the parameters change.
    """

    def __init__(self, syntax: SyntaxIndex, definitions: ReachingDefinitions, steps: list[ast.Call]) -> None:
        self.syntax = syntax
        self.definitions = definitions
        self._known: dict[ast.stmt, bool | None] = {}
        self._beside: dict[ast.stmt, bool | None] = {}
        self._stepping: set[ast.AST] = set()
        for call in steps:
            for ancestor in syntax.ancestors(call):
                if isinstance(ancestor, (*FUNCTIONS, ast.ClassDef)):
                    break
                self._stepping.add(ancestor)

    def each_pass(self, node: ast.AST) -> bool | None:
        """Does `node` run in each pass? False for a condition that does not hold as a rule (an interval,
        or one that nobody can tell); None where nothing stands in the way up to the innermost loop or
        function, so that the answer depends on how often that runs.
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
            if isinstance(parent, (ast.IfExp, ast.BoolOp, ast.Lambda)):
                return False
            child = parent
        return None

    def _statement(self, statement: ast.stmt, parent: ast.AST) -> bool | None:
        if statement not in self._beside:
            self._judge(self.syntax.block(statement)[0])
        beside = self._beside[statement]
        if beside is not None or type(parent) in HOLD_BODIES:
            return beside
        if isinstance(parent, LOOPS):
            return None if self.syntax.block(statement)[0] is parent.body else False
        if isinstance(parent, ast.If):
            taken = self.syntax.block(statement)[0] is parent.body
            if not self._usual(parent.test, taken=taken):
                return False
        return self.each_pass(parent) if isinstance(parent, ast.stmt) else False

    def _judge(self, block: list[ast.stmt]) -> None:
        """What the other statements of a block say of each: that a gradient step is taken beside it, or
        that the pass is often left before it.
        """
        if ast.If not in {type(statement) for statement in block} and self._stepping.isdisjoint(block):
            self._beside.update(dict.fromkeys(block))
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
            self._beside[statement] = True if known is None and index < last else known

    def _skips(self, statement: ast.If) -> bool:
        """`if step % n: return`: may the rest of the pass be left out, and not just at first?"""
        leaves = isinstance(statement.body[-1], (ast.Return, ast.Continue))
        return leaves and not self._usual(statement.test, taken=False)

    def _usual(self, test: ast.expr, *, taken: bool) -> bool:
        """Does a condition hold (`taken`) or not hold in nearly every pass?"""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._usual(test.operand, taken=not taken)
        if isinstance(test, ast.BoolOp):
            return all(self._usual(value, taken=taken) for value in test.values)
        interval = interval_of(test, self.syntax)
        if interval is not None:
            period = (
                interval.period if interval.period is not None else constant_period(test, self.definitions)
            )
            return taken and period is not None and period < OFTEN
        match test:
            case ast.Constant(value=value):
                return bool(value) is taken
            case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
                return isinstance(test.ops[0], ast.IsNot) is taken
            case ast.Compare(
                left=left, ops=[ast.Gt() | ast.GtE() | ast.Lt() | ast.LtE()], comparators=[right]
            ):
                names = [(last_name(side) or "").lower() for side in (left, right)]
                if any(_PACES.search(name) for name in names):
                    return False
                return any(_REACHED_SOON.search(name) for name in names)
        name = (last_name(test) or "").lower()
        if _EPISODE_END.search(name):
            return True
        return taken and bool(_USUALLY_SET.search(name)) and not _PACES.search(name)
