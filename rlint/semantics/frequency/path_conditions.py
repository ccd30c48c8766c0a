"""What a line waits for: the conditions that it stands behind, told apart by what makes them come true."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from functools import lru_cache

from rlint.enums import Enum
from rlint.frozen import frozen
from rlint.regex import regex
from rlint.semantics.dataflow.reaching_definitions import ReachingDefinitions
from rlint.semantics.frequency.intervals import PassInterval, interval_of
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import COMPREHENSIONS, FUNCTIONS, HOLD_BODIES, LOOPS, SyntaxIndex
from rlint.syntax.walk import descendants


class GuardKind(Enum):
    """What makes a condition come true."""

    INTERVAL = "every so many passes"  # `step % n == 0`, `step - last >= n`, `step >= next_log`
    CLOCK = "every so many seconds"  # `time.time() - last > 5`
    RANK = "in one of several processes"  # `rank == 0`, `accelerator.is_main_process`
    SWITCH = "when asked for"  # `self.verbose`, `args.render`, `writer is not None`
    BEST = "when something is the best so far"  # `score > best`
    ENDS = "when an episode ends"  # `done`, `"episode" in info`, a loop over those that finished
    ONCE = "the first time, or the last"  # `step == 0`, `self.env is None`
    FAILURE = "when something went wrong"  # an `except` clause, a block that ends in `raise`
    OTHER = "nobody knows when"


@frozen
class Guard:
    """A condition that a line stands behind: around it, or in an early `continue` or `return`.

    `counter` is the text of what drives an interval (`self.steps`), `period` its length where it is a
    constant. `loop` is the index of the innermost loop of the function that holds the condition, -1 for none.
    """

    sort: GuardKind
    text: str
    line: int
    loop: int = -1
    counter: str = ""
    period: int | None = None


_REPEATS_OR_BEGINS = frozenset({*LOOPS, *FUNCTIONS, ast.ClassDef})
_Found = tuple[GuardKind, PassInterval | None]

_MOST_TESTS = 50
"""So many conditions of one `and` or comprehension count; more would tell nothing else and take long."""
_SOON = regex(r"batch|warm|start|^min_|minimum|initial|random_steps|burn|explor|^len$|size|filled|capacity")
_MOMENT = regex(r"interval|freq|every|period|next|since|last|milestone|schedule|timer|(^|_)at_")
_ASKS = regex(r"^(should|is_time|time_to|every|due|must|do_|trigger)|_(trigger|due|every|interval)$")
_CLOCK = regex(r"(^|_)(time|clock|now|elapsed|seconds|secs|minutes|monotonic|perf_counter|duration)$")
_COUNTER = regex(
    r"(^|_)(steps?|iters?|iterations?|epochs?|episodes?|idx|index|count|counter|updates?|frames?|i|j|k|t|n|it)$"
)
_ENDS = regex(
    r"^(done|term|trunc|finish|complet)|_(done|dones|over|reset|ended|ends?)$|episode|final_|^reset$"
)
_FINISHED = regex(r"(^|_)(done|dones|terminated|truncated|finished|completed)(_|$)|final_info")
_RANK = regex(r"(^|_)(rank|process_index|proc_id|process_id|worker_id|worker_index|thread_id)$|^get_rank$")
_MAIN = regex(r"(^|_)(main_process|is_main|is_master|master|is_chief|rank_?zero|global_zero|is_leader)($|_)")
_BEST = regex(r"(^|_)(best|highest|lowest|record)")
_SWITCH = regex(
    r"(^|_)(verbos\w*|debug\w*|profil\w*|dry_run|sanity|rend\w*|displ\w*|visu\w*|show\w*|plot\w*|print\w*"
    r"|log\w*|track\w*|sav\w*|record\w*|captur\w*|video\w*|use|do|enabl\w*|with|wandb\w*|tensorboard\w*|tb\w*"
    r"|writer|report\w*|dump\w*|test\w*|eval\w*|watch\w*|gui|anomal\w*|trac\w*|play\w*|demo\w*|human\w*|view\w*"
    r"|monitor\w*|checkpoint\w*|ckpt\w*|export\w*|quiet|silent|detect\w*|nan\w*)($|_)"
)
_OPTIONS = regex(r"^(arg|opt|option|config|cfg|conf|flag|hparam|hp|param|setting)s?$|_(args|cfg|config)$")
_USUAL = regex(r"train|learn|ready|enough|can_sample|full|filled|started")


class PathConditions:
    """The conditions in one file, as the lines of it meet them. `loops` are the indices of its loops."""

    def __init__(
        self, syntax: SyntaxIndex, definitions: ReachingDefinitions, loops: Mapping[ast.AST, int]
    ) -> None:
        self.syntax = syntax
        self.definitions = definitions
        self.loops = loops
        self._known: dict[ast.stmt, tuple[Guard, ...]] = {}
        self._left: dict[ast.stmt, tuple[Guard, ...]] = {}
        self._blocks: dict[ast.stmt, tuple[Guard, ...]] = {}  # by their first statements
        self._of_parts: dict[tuple[ast.AST, ast.AST | None], tuple[Guard, ...]] = {}
        self._of_tests: dict[tuple[ast.expr, bool], list[Guard]] = {}

    def of(self, node: ast.AST) -> tuple[Guard, ...]:
        """The conditions that `node` stands behind in its function, innermost first. Those that hold in
        nearly every pass (the episode goes on, enough samples are there) are left out.
        """
        around = self.syntax.buried.get(node)
        child = self.syntax.wholes.of(around or node)
        known = self._of_parts.get((child, around))
        if known is None:
            found = [self._guard(GuardKind.OTHER, around)] if around is not None else []
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
                found.append(self._guard(GuardKind.OTHER, parent))
            for test, taken in itertools.islice(_tests_before(child, parent), _MOST_TESTS):
                found += self._of_test(test, taken=taken)
            child = parent
        return tuple(found)

    def _of_test(self, test: ast.expr, *, taken: bool) -> list[Guard]:
        known = self._of_tests.get((test, taken))
        if known is None:
            known = self._of_tests[test, taken] = self._met(test, taken=taken)
        return known

    def _of_statement(self, statement: ast.stmt) -> tuple[Guard, ...]:
        known = self._known.get(statement)
        if known is None:
            parent = self.syntax.parents[statement]
            known = self._left_before(statement, parent)
            if type(parent) not in HOLD_BODIES:
                known = (*known, *self._around(statement, parent))
            self._known[statement] = known
        return known

    def _around(self, statement: ast.stmt, parent: ast.AST) -> tuple[Guard, ...]:
        """What the block that holds a statement stands behind."""
        first = parent.body[0] if isinstance(parent, ast.match_case) else self.syntax.block(statement)[0][0]
        known = self._blocks.get(first)
        if known is not None:
            return known
        found: list[Guard] = []
        holder = parent
        if isinstance(parent, ast.ExceptHandler):
            found.append(self._guard(GuardKind.FAILURE, parent))
            holder = self.syntax.parents[parent]
        elif isinstance(parent, ast.match_case):
            holder = self.syntax.parents[parent]
            found.append(self._guard(GuardKind.OTHER, holder))
        elif isinstance(parent, ast.If):
            taken = statement in parent.body
            if isinstance((parent.body if taken else parent.orelse)[-1], ast.Raise):
                found.append(self._guard(GuardKind.FAILURE, parent.test))
            found += self._of_test(parent.test, taken=taken)
        elif isinstance(parent, (ast.For, ast.AsyncFor)):
            if statement in parent.orelse or any(map(_FINISHED.search, _words(parent.iter))):
                found.append(self._guard(GuardKind.ENDS, parent.iter))
        elif isinstance(parent, ast.While) and statement in parent.orelse:
            found.append(self._guard(GuardKind.ENDS, parent.test))
        around = self._of_statement(holder) if isinstance(holder, ast.stmt) else ()
        known = self._blocks[first] = (*found, *around)
        return known

    def _left_before(self, statement: ast.stmt, parent: ast.AST) -> tuple[Guard, ...]:
        """What must not hold for a statement to be reached: `if step % n: continue` before it."""
        known = self._left.get(statement)
        if known is not None:
            return known
        block = parent.body if isinstance(parent, ast.match_case) else self.syntax.block(statement)[0]
        found: tuple[Guard, ...] = ()
        for each in block:
            self._left[each] = found
            if isinstance(each, ast.If):
                found = (*found, *self._unless_left(each))
        return self._left[statement]

    def _unless_left(self, branch: ast.If) -> list[Guard]:
        """What a branch that may leave the pass lets through."""
        repeated = self._is_repeated(branch)
        if _leaves(branch.body, repeated=repeated):
            return self._of_test(branch.test, taken=False)
        if _leaves(branch.orelse, repeated=repeated):
            return self._of_test(branch.test, taken=True)
        if any(_leaves([inner], repeated=repeated) for inner in (*branch.body, *branch.orelse)):
            return [self._guard(GuardKind.OTHER, branch.test)]
        return []

    def _is_repeated(self, statement: ast.stmt) -> bool:
        """Does a loop repeat a statement, so that a `return` beside it ends that loop, too?"""
        for ancestor in self.syntax.ancestors(statement):
            if type(ancestor) in _REPEATS_OR_BEGINS:
                return isinstance(ancestor, LOOPS)
        return False

    def _guard(self, sort: GuardKind, node: ast.AST, interval: PassInterval | None = None) -> Guard:
        loop = -1
        for ancestor in self.syntax.ancestors(node):
            if ancestor in self.loops or type(ancestor) in HOLD_BODIES:
                loop = self.loops.get(ancestor, -1)
                break
        text = self._text(node) if isinstance(node, ast.expr) else ""
        counter, period = (interval.counter, interval.period) if interval is not None else ("", None)
        return Guard(sort, text, getattr(node, "lineno", 0), loop, counter, period)

    def _text(self, node: ast.AST) -> str:
        return " ".join(self.syntax.text[slice(*self.syntax.positions.span(node))].split())

    def _met(self, test: ast.expr, *, taken: bool) -> list[Guard]:
        """What has to come true for a test to hold (`taken`), or not to."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            if not taken or not _is_modulo(test.operand):
                return self._met(test.operand, taken=not taken)
        elif isinstance(test, ast.BoolOp):
            parts = [self._met(value, taken=taken) for value in test.values]
            if isinstance(test.op, ast.And) is taken:
                return [guard for part in parts for guard in part]
            if not all(parts):
                return []  # one is enough, and one of them holds as a rule
            sorts = {guard.sort for part in parts for guard in part}
            return parts[0] if len(sorts) == 1 else [self._guard(GuardKind.OTHER, test)]
        found = self._sort(test, taken=taken)
        return [self._guard(found[0], test, found[1])] if found is not None else []

    def _sort(self, test: ast.expr, *, taken: bool) -> _Found | None:
        interval = self._interval(test, taken=taken)
        if interval is not None:
            return (
                None
                if interval.period is not None and interval.period < 2
                else (GuardKind.INTERVAL, interval)
            )
        if not taken and interval_of(test, self.syntax) is not None:
            return None  # the passes between
        if isinstance(test, ast.Compare):
            return self._compared(test, taken=taken) if len(test.ops) == 1 else (GuardKind.OTHER, None)
        if isinstance(test, ast.Constant):
            return None if bool(test.value) is taken else (GuardKind.SWITCH, None)
        if _is_modulo(test):
            return None  # `step % n` holds in nearly every pass
        name = (last_name(test) or "").lower().lstrip("_")
        owner = (last_name(test.value) or "").lower() if isinstance(test, ast.Attribute) else ""
        if isinstance(test, ast.Call) and _ASKS.search(name):
            return (GuardKind.INTERVAL, None) if taken else None
        sort = _sort_of_name(name, owner, taken=taken)
        return (sort, None) if sort is not None else None

    def _compared(self, test: ast.Compare, *, taken: bool) -> _Found | None:
        op, left, right = test.ops[0], test.left, test.comparators[0]
        names = [(last_name(side) or "").lower().lstrip("_") for side in (left, right)]
        constant = right.value if isinstance(right, ast.Constant) else ...
        if isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            same = isinstance(op, (ast.Is, ast.Eq)) is taken
            if constant is None:
                return (GuardKind.ONCE if same else GuardKind.SWITCH), None
            if isinstance(constant, bool):
                return self._sort(left, taken=constant is same)
            if any(_RANK.search(name) for name in names):
                return (GuardKind.RANK, None) if same else (GuardKind.OTHER, None)
            if any(_MOMENT.search(name) for name in names):
                return self._every_so_many(test) if same else None
            if _COUNTER.search(names[0]):
                return (GuardKind.ONCE, None) if same else None
            return GuardKind.OTHER, None
        words = _words(test)
        if isinstance(op, (ast.In, ast.NotIn)):
            inside = isinstance(op, ast.In) is taken
            if any(_ENDS.search(word) for word in words):
                return (GuardKind.ENDS, None) if inside else None
            if _COUNTER.search(names[0]):
                return self._every_so_many(test) if inside else None
            return GuardKind.OTHER, None
        if any(_BEST.search(word) for word in words):
            return GuardKind.BEST, None
        if any(_CLOCK.search(word) for word in words):
            return GuardKind.CLOCK, None
        if any(_MOMENT.search(word) for word in words):
            return self._every_so_many(test)
        if isinstance(constant, int) and _SWITCH.search(names[0]):
            return GuardKind.SWITCH, None  # `verbose > 1`
        more = isinstance(op, (ast.Gt, ast.GtE)) is taken
        reached_soon = _SOON.search(names[1 if more else 0]) or (more and _SOON.search(names[0]))
        return None if reached_soon else (GuardKind.OTHER, None)

    def _every_so_many(self, test: ast.Compare) -> _Found:
        return GuardKind.INTERVAL, PassInterval(None, self._text(test.left), self._text(test.comparators[0]))

    def _interval(self, test: ast.expr, *, taken: bool) -> PassInterval | None:
        """`step % n == 0` and `not step % n`; `step % n` and `step % n != 0` where they must not hold."""
        if taken:
            found = interval_of(test, self.syntax)
            if found is None or found.period is not None:
                return found
            return PassInterval(constant_period(test, self.definitions), found.counter, found.text)
        match test:
            case ast.BinOp(op=ast.Mod() | ast.BitAnd()) as modulo:
                pass
            case ast.Compare(left=ast.BinOp(op=ast.Mod()) as modulo, ops=[ast.NotEq() | ast.Gt()]):
                pass
            case _:
                return None
        period = (
            modulo.right.value
            if isinstance(modulo.right, ast.Constant)
            else constant_period(test, self.definitions)
        )
        return PassInterval(
            period if isinstance(period, int) else None, self._text(modulo.left), self._text(modulo.right)
        )


def _tests_before(part: ast.AST, whole: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """The tests in an expression that decide whether a part of it is evaluated, each with what it must come
    out as.
    """
    if isinstance(whole, ast.IfExp):
        if part is not whole.test:
            yield whole.test, part is whole.body
    elif isinstance(whole, ast.BoolOp):
        for value in whole.values:
            if value is part:
                break
            yield value, isinstance(whole.op, ast.And)
    elif isinstance(whole, COMPREHENSIONS) and not isinstance(part, ast.comprehension):
        for generator in whole.generators:
            for test in generator.ifs:
                yield test, True


@lru_cache(maxsize=4096)
def _sort_of_name(name: str, owner: str, *, taken: bool) -> GuardKind | None:
    """The sort of a condition that is a name (an attribute of `owner`), None where it holds as a rule."""
    if _MAIN.search(name) or _RANK.search(name):
        return GuardKind.RANK if taken is bool(_MAIN.search(name)) else GuardKind.OTHER
    if _ENDS.search(name):
        return GuardKind.ENDS if taken else None
    if _BEST.search(name):
        return GuardKind.BEST if taken else GuardKind.OTHER
    if _SWITCH.search(name) or _OPTIONS.search(owner):
        return GuardKind.SWITCH
    return None if _USUAL.search(name) and taken else GuardKind.OTHER


def constant_period(test: ast.expr, definitions: ReachingDefinitions) -> int | None:
    """The period of `step % PERIOD == 0` where the name stands for one constant."""
    for node in descendants(test):
        match node:
            case ast.BinOp(op=ast.Mod(), right=ast.Name() as name):
                bindings = definitions.reaching(name)
                if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN:
                    match bindings[0].value:
                        case ast.Constant(value=int(period)):
                            return period
    return None


def _is_modulo(test: ast.expr) -> bool:
    return isinstance(test, ast.BinOp) and isinstance(test.op, (ast.Mod, ast.BitAnd))


def _leaves(block: list[ast.stmt], *, repeated: bool) -> bool:
    """Does a block leave out the rest of the pass, but not end the loop that is in question?"""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, (ast.If, ast.With)):
        return _leaves(last.body, repeated=repeated)
    return isinstance(last, ast.Continue) or (isinstance(last, ast.Return) and not repeated)


def _words(expression: ast.expr) -> set[str]:
    """The names and texts in an expression, in lower case."""
    found = set()
    for node in descendants(expression):
        name = getattr(node, "attr", None) or getattr(node, "id", None) or getattr(node, "value", None)
        if isinstance(name, str):
            found.add(name.lower().lstrip("_"))
    return found
