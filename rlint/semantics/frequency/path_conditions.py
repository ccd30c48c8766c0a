"""The conditions that guard a line, classified by what makes them true."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace

from rlint.findings import Heat
from rlint.regex import regex
from rlint.semantics.dataflow.reaching_definitions import ReachingDefinitions
from rlint.semantics.frequency.conditions import Condition, Conditions, words_of
from rlint.semantics.frequency.guards import Guard, GuardKind
from rlint.semantics.frequency.lazy_init import where_it_leaves
from rlint.semantics.frequency.phases.beginnings import Beginnings
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import deciding_tests
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import COMPREHENSIONS, FUNCTIONS, HOLD_BODIES, LOOPS, Function, SyntaxIndex
from rlint.syntax.walk import descendants

_REPEATS_OR_BEGINS = frozenset({*LOOPS, *FUNCTIONS, ast.ClassDef})
_COUNTS = frozenset({"range", "trange"})
_MEANING = 3
"""Maximum number of names followed from a name to the condition that it holds."""
_MOST_TESTS = 50
"""Maximum number of conditions of one `and` or comprehension that are examined; more would add nothing."""
_FINISHED = regex(r"(^|_)(done|dones|terminated|truncated|finished|completed)(_|$)|final_info")

_FLAGS = regex(r"^(done|terminated|truncated)s?$|_dones?$")
_PICKS = frozenset("where argwhere nonzero flatnonzero".split())


class PathConditions:
    """The conditions that guard the lines of one file. `loops` are the indices of its loops."""

    def __init__(
        self, syntax: SyntaxIndex, definitions: ReachingDefinitions, loops: Mapping[ast.AST, int]
    ) -> None:
        self.syntax = syntax
        self.conditions = Conditions(syntax, definitions)
        self.beginnings = Beginnings(syntax, definitions)
        self.loops = loops
        self._known: dict[ast.stmt, tuple[Guard, ...]] = {}
        self._left: dict[ast.stmt, tuple[Guard, ...]] = {}
        self._blocks: dict[ast.stmt, tuple[Guard, ...]] = {}  # by their first statements
        self._failing: dict[Function, list[ast.stmt]] = {}
        self._of_parts: dict[tuple[ast.AST, ast.AST | None], tuple[Guard, ...]] = {}
        self._of_tests: dict[tuple[ast.expr, bool], list[Guard]] = {}
        self._in_progress: set[ast.expr] = set()

    def of(self, node: ast.AST) -> tuple[Guard, ...]:
        """Return the conditions that guard `node` in its function, innermost first. Conditions that hold in
        nearly every iteration (the episode continues, there are enough samples) are left out.
        """
        around = self.syntax.buried.get(node)
        child = self.syntax.wholes.of(around or node)
        known = self._of_parts.get((child, around))
        if known is None:
            found = [self._guard(_TOO_DEEP, around)] if around is not None else []
            known = self._of_parts[child, around] = (*found, *self._of_part(child))
        return known

    def _of_part(self, child: ast.AST) -> tuple[Guard, ...]:
        if isinstance(child, ast.stmt):
            return self._of_statement(child)
        found: list[Guard] = []
        for parent in self.syntax.ancestors(child):
            if isinstance(child, ast.stmt):
                return (*found, *self._of_statement(child))
            if isinstance(parent, ast.Lambda):
                found.append(self._guard(_UNKNOWN, parent))
            elif isinstance(parent, ast.Raise) or (isinstance(parent, ast.Assert) and child is parent.msg):
                found.append(self._guard(_ERROR, parent))
            for test, taken in self.tests_before(child, parent):
                found += self.of_test(test, taken=taken)
            child = parent
        return tuple(found)

    def tests_before(self, part: ast.AST, whole: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
        """Return the tests in an expression that decide whether a part of it is evaluated, each with the
        outcome that is needed.
        """
        return itertools.islice(_tests_before(part, whole, self.syntax.parents[whole]), _MOST_TESTS)

    def length_of(self, loop: ast.AST) -> Guard | None:
        """Return the number of iterations after which a loop ends (`for i in range(n)`, `while i < n`), as an
        interval; None for loops that do not count iterations.
        """
        length: ast.expr | None = None
        if isinstance(loop, (ast.For, ast.AsyncFor)):
            iterable = loop.iter
            while isinstance(iterable, ast.Call) and iterable.args:
                if last_name(iterable.func) in _COUNTS:
                    length = iterable.args[-1 if len(iterable.args) < 3 else 1]
                    break
                iterable = iterable.args[0]
        elif isinstance(loop, ast.While):
            match loop.test:
                case ast.Compare(
                    left=ast.Name() | ast.Attribute(), ops=[ast.Lt() | ast.LtE()], comparators=[n]
                ):
                    length = n
        condition = self.conditions.after(length, "") if length is not None else None
        return self._guard(condition, length) if condition is not None and length is not None else None

    def of_test(self, test: ast.expr, *, taken: bool) -> list[Guard]:
        """Return the conditions for a test to be true (`taken`) or false."""
        known = self._of_tests.get((test, taken))
        if known is None:
            known = self._of_tests[test, taken] = self._met(test, taken=taken)
        return known

    def _of_statement(self, statement: ast.stmt) -> tuple[Guard, ...]:
        known = self._known.get(statement)
        if known is None:
            parent = self.syntax.parents[statement]
            known = self._left_before(statement, parent)
            if isinstance(parent, FUNCTIONS) and statement in self._failing_end(parent):
                known = (*known, self._guard(_ERROR, parent.body[-1]))
            if type(parent) not in HOLD_BODIES:
                known = (*known, *self._around(statement, parent))
            self._known[statement] = known
        return known

    def _failing_end(self, function: Function) -> list[ast.stmt]:
        """Return the statements of a function after its last `return`, if they end in `raise`."""
        known = self._failing.get(function)
        if known is None:
            body = function.body if _raises(function.body) else []
            last = [index for index, each in enumerate(body) if _may_return(each)]
            known = self._failing[function] = body[last[-1] + 1 :] if last else []
        return known

    def _around(self, statement: ast.stmt, parent: ast.AST) -> tuple[Guard, ...]:
        """Return the conditions of the block that contains a statement."""
        first = parent.body[0] if isinstance(parent, ast.match_case) else self.syntax.block(statement)[0][0]
        known = self._blocks.get(first)
        if known is not None:
            return known
        found: list[Guard] = []
        holder = parent
        if isinstance(parent, ast.ExceptHandler):
            found.append(self._guard(_ERROR if _raises(parent.body) else _HANDLER, parent))
            holder = self.syntax.parents[parent]
        elif isinstance(parent, ast.match_case):
            holder = self.syntax.parents[parent]
            found.append(self._guard(_ERROR if _raises(parent.body) else _UNKNOWN, holder))
        elif isinstance(parent, ast.If):
            taken = statement in parent.body
            if _raises(parent.body if taken else parent.orelse):
                found.append(self._guard(_ERROR, parent.test))
            found += self.of_test(parent.test, taken=taken)
        elif isinstance(parent, (ast.For, ast.AsyncFor)):
            if statement in parent.orelse:
                found.append(self._guard(_LOOP_ENDS, parent.iter))
            elif finished := list(filter(_FINISHED.search, words := words_of(parent.iter))):
                # `for reward, done in zip(rewards, dones)` iterates over all steps, not only those that
                # finished
                takes_all = all(map(_FLAGS.search, finished)) and not words & _PICKS
                found.append(self._guard(_LOOP_ENDS if takes_all else _EPISODE_ENDS, parent.iter))
        elif isinstance(parent, ast.While) and statement in parent.orelse:
            found.append(self._guard(_LOOP_ENDS, parent.test))
        around = self._of_statement(holder) if isinstance(holder, ast.stmt) else ()
        known = self._blocks[first] = (*found, *around)
        return known

    def _left_before(self, statement: ast.stmt, parent: ast.AST) -> tuple[Guard, ...]:
        """Return what must be false for a statement to be reached: `if step % n: continue` before it."""
        known = self._left.get(statement)
        if known is not None:
            return known
        block = parent.body if isinstance(parent, ast.match_case) else self.syntax.block(statement)[0]
        found: tuple[Guard, ...] = ()
        made = where_it_leaves(parent) if isinstance(parent, FUNCTIONS) else None
        for each in block:
            self._left[each] = found
            if isinstance(each, ast.If):
                is_made = each is made
                found = (
                    *found,
                    *([self._guard(_FIRST_CALL, each.test)] if is_made else self._unless_left(each)),
                )
        return self._left[statement]

    def _unless_left(self, branch: ast.If) -> list[Guard]:
        """Return the conditions under which a branch that may leave the iteration does not."""
        repeated = self._is_repeated(branch)
        for block, taken in ((branch.body, False), (branch.orelse, True)):
            if _leaves(block, repeated=repeated):
                guards = self.of_test(branch.test, taken=taken)
                # code that returns if an object exists may do more than create it
                return [
                    replace(guard, cap=Heat.HOT)
                    if guard.kind is GuardKind.ONCE and guard.cap is Heat.COLD
                    else guard
                    for guard in guards
                ]
        if any(_leaves([inner], repeated=repeated) for inner in (*branch.body, *branch.orelse)):
            return [self._guard(_UNKNOWN, branch.test)]
        return []

    def _is_repeated(self, statement: ast.stmt) -> bool:
        """Whether a loop repeats a statement, so that a `return` beside it ends that loop, too."""
        for ancestor in self.syntax.ancestors(statement):
            if type(ancestor) in _REPEATS_OR_BEGINS:
                return isinstance(ancestor, LOOPS)
        return False

    def _guard(self, condition: Condition, node: ast.AST) -> Guard:
        loop = -1
        for ancestor in self.syntax.ancestors(self.syntax.wholes.of(node)):
            if ancestor in self.loops or type(ancestor) in HOLD_BODIES:
                loop = self.loops.get(ancestor, -1)
                break
        text = self.conditions.text(node) if isinstance(node, ast.expr) else ""
        return Guard(
            condition.kind,
            text,
            getattr(node, "lineno", 0),
            loop,
            condition.counter,
            condition.period,
            condition.cap,
            condition.decider,
            condition.is_parameter,
            self._counted(node) if condition.kind in _COUNTED else -1,
            condition.is_own,
        )

    def _counted(self, node: ast.AST) -> int:
        """Return the index of the loop whose variable a condition compares; -1 for none."""
        for name in descendants(node):
            if isinstance(name, ast.Name):
                bindings = self.conditions.definitions.reaching(name)
                if len(bindings) == 1 and bindings[0].kind is BindingKind.FOR:
                    return self.loops.get(bindings[0].statement, -1)
        return -1

    def _met(self, test: ast.expr, *, taken: bool, at: ast.expr | None = None, depth: int = 0) -> list[Guard]:
        """Return the conditions for a test to be true (`taken`) or false. `at` is the name that the condition
        was read from.
        """
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._met(test.operand, taken=not taken, at=at, depth=depth)
        if isinstance(test, ast.BoolOp):
            parts = [self._met(value, taken=taken, at=at, depth=depth) for value in test.values]
            if isinstance(test.op, ast.And) is taken:
                return [guard for part in parts for guard in part]
            if not all(parts):
                return []  # one is enough, and one of them usually holds
            kinds = {guard.kind for part in parts for guard in part}
            if len(kinds) > 1 and not kinds <= _COUNTED:  # `step % n == 0 or step == last` is an interval
                return [self._guard(_UNKNOWN, at or test)]
            most = max(parts, key=lambda part: min(guard.cap for guard in part))  # the most frequent
            all_begin = all(any(guard.begins for guard in part) for part in parts)
            return most if all_begin else [replace(guard, begins="") for guard in most]
        condition = self.conditions.of(test, taken=taken)
        if self.conditions.by_hand.is_first_time(test, taken=taken):
            return [self._guard(_FIRST_TIME, at or test)]
        if condition is not None and condition.kind in _VAGUE and depth < _MEANING:
            meaning = self.conditions.meaning(test)
            if meaning is not test:
                found = self._met(meaning, taken=taken, at=at or test, depth=depth + 1)
                if not any(guard.kind is GuardKind.OTHER for guard in found):
                    return found
            if self.conditions.by_hand.is_once_per_round(test, taken=taken):
                return [self._guard(_EPISODE_ENDS, at or test)]
            found = self._flagged(test, taken=taken, at=at or test, depth=depth)
            if any(guard.kind is GuardKind.INTERVAL for guard in found):
                return found
        if condition is None:
            return []
        guard, begins = self._guard(condition, at or test), self.beginnings.of(test, taken=taken)
        return [replace(guard, begins=begins) if begins else guard]

    def _flagged(self, test: ast.expr, *, taken: bool, at: ast.expr, depth: int) -> list[Guard]:
        """Return the conditions under which a flag is set elsewhere, as conditions of the place that reads
        it.
        """
        means = self.conditions.by_hand.flag(test) if test not in self._in_progress else None
        if means is None:
            return []
        self._in_progress.add(test)
        if isinstance(means, ast.expr):
            found = self._met(means, taken=taken, at=at, depth=depth + 1)
        else:
            place = self._guard(_UNKNOWN, at)
            found = [
                replace(guard, loop=place.loop, line=place.line, counts=-1)
                for guard in (self.of(means) if taken else ())
                if guard.kind is GuardKind.INTERVAL
            ]
        self._in_progress.discard(test)
        if self.syntax.function(means) is not self.syntax.function(at):
            found = [replace(guard, is_parameter=False) for guard in found]
        return found


_COUNTED = frozenset({GuardKind.INTERVAL, GuardKind.ONCE})
_VAGUE = frozenset({GuardKind.SWITCH, GuardKind.OTHER})
_UNKNOWN = Condition(GuardKind.OTHER)
_TOO_DEEP = Condition(GuardKind.OTHER, Heat.COLD)
_ERROR = Condition(GuardKind.FAILURE, Heat.COLD)
_HANDLER = Condition(GuardKind.FAILURE)
_EPISODE_ENDS = Condition(GuardKind.ENDS, Heat.WARM)
_LOOP_ENDS = Condition(GuardKind.ENDS)
_FIRST_TIME = Condition(GuardKind.ONCE, Heat.WARM)
_FIRST_CALL = Condition(GuardKind.ONCE, Heat.COLD)


def _raises(block: list[ast.stmt]) -> bool:
    """Whether a block ends in `raise`, possibly inside a `with` or after a `try` whose `finally` does."""
    match block[-1]:
        case ast.Raise():
            return True
        case ast.Try(finalbody=[_, *_] as last) | ast.With(body=last) | ast.AsyncWith(body=last):
            return _raises(last)
        case ast.If(body=body, orelse=[_, *_] as otherwise):
            return _raises(body) and _raises(otherwise)
    return False


def _may_return(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Return) for node in descendants(statement))


def _tests_before(part: ast.AST, whole: ast.AST, around: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    if isinstance(whole, ast.BoolOp) and isinstance(around, ast.Assert) and isinstance(whole.op, ast.And):
        return  # `assert first and second` evaluates both, unless the run fails
    if isinstance(whole, (ast.IfExp, ast.BoolOp)):
        yield from deciding_tests(part, whole)
    elif isinstance(whole, COMPREHENSIONS) and not isinstance(part, ast.comprehension):
        for generator in whole.generators:
            for test in generator.ifs:
                yield test, True


def _leaves(block: list[ast.stmt], *, repeated: bool) -> bool:
    """Whether a block skips the rest of the iteration without ending the loop in question."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, (ast.If, ast.With)):
        return _leaves(last.body, repeated=repeated)
    return isinstance(last, ast.Continue) or (isinstance(last, ast.Return) and not repeated)
