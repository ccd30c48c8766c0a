"""Classify conditions by what makes them true: intervals, switches, ends of episodes."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import NamedTuple

from rlint import models
from rlint.findings import Heat
from rlint.models.trait import Trait
from rlint.regex import regex
from rlint.semantics.dataflow.reaching_definitions import ReachingDefinitions
from rlint.semantics.frequency.by_hand import ByHand
from rlint.semantics.frequency.guards import OFTEN, GuardKind
from rlint.semantics.frequency.lazy_init import is_kept_by_key
from rlint.semantics.frequency.roles import LEARNS
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import FUNCTIONS, SyntaxIndex
from rlint.syntax.walk import descendants

_REACHED_SOON = regex(
    r"batch|warm|start|^min_|minimum|initial|random_steps|burn|explor|^len$|size|filled|capacity"
)
_RARE_DEVICES = frozenset({"mps", "xpu", "hpu", "npu", "mlu"})
"""Types of devices for which code has branches of its own, and on which few train."""
_MEMORY = regex(r"memor|buffer|replay")
_THRESHOLD = regex(r"batch|warm|start|^min_|minimum|initial|random_steps|burn")
_LENGTHS = "interval|freq|every|period"
_TO_COME = rf"{_LENGTHS}|next|milestone|schedule"
_AT_INTERVALS = regex(_LENGTHS)
_AHEAD = regex(_TO_COME)
_MOMENT = regex(rf"{_TO_COME}|since|last|timer|(^|_)at_")
_RARE = regex(
    r"log|eval|save|sav|checkpoint|ckpt|print|render|record|video|report|test|plot|display|summary|milestone"
)
_CHECKS = regex(r"^(should|is_time|time_to|every|due|must|do_|trigger)|_(trigger|due|every|interval)$")
_CLOCK = regex(r"(^|_)(time|clock|now|elapsed|seconds|secs|minutes|monotonic|perf_counter|duration)$")
_COUNTER = regex(
    r"(^|_)(steps?|iters?|itrs?|iterations?|epochs?|episodes?|rounds?|cycles?|generations?|rollouts?|idx|index"
    r"|count|counter|updates?|frames?|ep|i|j|k|t|n|it)$"
)
_PROGRESS = regex(
    r"(^|_)(steps?|timesteps?|iters?|itrs?|iterations?|epochs?|episodes?|rounds?|updates?|frames?)$"
)
_ENDS = regex(
    r"^(done|term|trunc|finish|complete)|_(done|dones|over|reset|ended|ends?)$|episode|final_|^reset$"
)
_LAST = regex(r"^last(_(step|iter|iteration|epoch|episode|update|frame|idx|index))?$")
_ENDED = regex(
    r"(^|_)(done|dones|terminated|truncated|terminal|terminals|finished|completed|over|ended|ends?|reset)$"
    r"|^(episode|episodes|final_\w+|terminal_\w+)$|episod(e|ic)_(end|info|return|reward|length)"
)
_RANK = regex(r"(^|_)(rank|process_index|proc_id|process_id|worker_id|worker_index|thread_id)$|^get_rank$")
_MAIN = regex(r"(^|_)(main_process|is_main|is_master|master|is_chief|rank_?zero|global_zero|is_leader)($|_)")
_BEST = regex(r"(^|_)(best|highest|lowest|record)")
_SURELY_BEST = regex(r"(^|_)best")
_DEBUG = regex(r"(^|_)(verbose|debug|profile|dry_run|sanity)", re.IGNORECASE)
_SWITCH = regex(
    r"(^|_)(verbos\w*|debug\w*|profil\w*|dry_run|sanity|rend\w*|displ\w*|visu\w*|show\w*|plot\w*|print\w*"
    r"|log\w*|track\w*|sav\w*|record\w*|captur\w*|video\w*|use|do|enabl\w*|with|wandb\w*|tensorboard\w*|tb\w*"
    r"|writer|report\w*|dump\w*|test\w*|eval\w*|watch\w*|gui|anomal\w*|trac\w*|play\w*|demo\w*|human\w*|view\w*"
    r"|monitor\w*|checkpoint\w*|ckpt\w*|export\w*|quiet|silent|detect\w*|nan\w*)($|_)"
)
_OBSERVATION = regex(
    r"(^|_)(verbos\w*|debug\w*|profil\w*|dry_run|sanity|render\w*|displ\w*|visu\w*|viz|show\w*|plot(s|ting)?"
    r"|print\w*|log(s|ging|ger)?|track(ing)?|sav(e|es|ing)|record(s|ing|er)?|captur\w*|videos?|wandb|tensorboard"
    r"|tb|writer|report\w*|dump\w*|test|testing|eval|evaluat\w*|watch\w*|gui|demo|human|viewer|monitor\w*"
    r"|checkpoint\w*|ckpt\w*|export\w*)($|_)"
)
_LOGARITHM = regex(r"log_?(prob|it|std|alpha|softmax|var|sum|ratio|like|scale)")
_OPTIONS = regex(r"^(arg|opt|option|config|cfg|conf|flag|hparam|hp|param|setting)s?$|_(args|cfg|config)$")
_USUALLY_SET = regex(r"train|learn|ready|enough|can_sample|full|filled|started")
_OF_CLASSES = models.names_having(Trait.TESTS_CLASS, "builtins", "torch")
"""Tests of the type of a value, whose result is usually the same each time."""
_SET_BY_NAME = ("setattr", "register_buffer", "register_parameter", "add_module")
_DECIDED = frozenset({GuardKind.SWITCH, GuardKind.OTHER})
_RECURRING = frozenset(
    {GuardKind.INTERVAL, GuardKind.ONCE, GuardKind.CLASS, GuardKind.PRESENT, GuardKind.RANK}
)
"""Conditions that become true again and again. The first or last of several steps does, too."""
_MOST_STEPS = 3
"""Maximum number of assignments followed from a name to the condition that it holds."""


class Condition(NamedTuple):
    """What makes a test true, how hot it lets a line be, and what decides it (see `Guard`)."""

    kind: GuardKind
    cap: Heat = Heat.HOT
    counter: str = ""
    period: int | None = None
    decider: str = ""
    is_parameter: bool = False
    is_own: bool = False


class Conditions:
    """The tests of one file, classified one by one; clients handle `and`, `or` and `not`."""

    def __init__(self, syntax: SyntaxIndex, definitions: ReachingDefinitions) -> None:
        self.syntax = syntax
        self.definitions = definitions
        self.by_hand = ByHand(syntax, definitions)

    def of(self, test: ast.expr, *, taken: bool) -> Condition | None:
        """Return the condition for a test to be true (`taken`) or false; None if that is so in nearly every
        iteration.
        """
        modulo = _modulo(test)
        if modulo is not None:
            return self._interval(modulo, test, taken=taken)
        if isinstance(test, ast.Compare):
            if len(test.ops) != 1:
                return Condition(GuardKind.OTHER)
            kept = self._kept_by_hand(test, taken=taken)
            return kept[0] if kept else self._compared(test, taken=taken)
        if isinstance(test, ast.Constant):
            return None if bool(test.value) is taken else Condition(GuardKind.SWITCH, Heat.COLD)
        name = (last_name(test) or "").lower().lstrip("_")
        if isinstance(test, ast.Call):
            if name == "hasattr" and not taken:
                is_set = self._sets_attribute(test)
                return Condition(GuardKind.ONCE, Heat.COLD) if is_set else Condition(GuardKind.CLASS)
            if name in _OF_CLASSES:
                return Condition(GuardKind.CLASS)
            if _CHECKS.search(name):
                return self._every_so_many("", name) if taken else None
        owner = (last_name(test.value) or "").lower() if isinstance(test, ast.Attribute) else ""
        kind = _kind_of_name(name, owner, taken=taken)
        if kind is None:
            return None
        is_parameter = taken and kind in _DECIDED and isinstance(test, ast.Name) and self._is_parameter(test)
        is_decided = is_parameter or (taken and kind in _DECIDED and _is_read(test) and is_observation(name))
        return Condition(
            kind,
            _cap_of(kind, name, taken=taken),
            decider=(last_name(test) or "") if is_decided else "",
            is_parameter=is_parameter,
            is_own=is_decided and _is_own(test),
        )

    def _sets_attribute(self, test: ast.Call) -> bool:
        """Whether the file may set the attribute that `hasattr` looks for, so that the object has it the next
        time. Otherwise its class has it or not.
        """
        match test.args:
            case [_, ast.Constant(value=str(attribute))]:
                written = self.syntax.written
                stores = (isinstance(use.ctx, ast.Store) for use in written.attributes.get(attribute, ()))
                return any(stores) or bool(written.calls_of(_SET_BY_NAME))
        return True

    def meaning(self, test: ast.expr) -> ast.expr:
        """Return the condition that a name holds: `step % 100 == 0` for `is_log_step`, or a call that only
        says whether something is due, such as `should_save(step)`.
        """
        for _ in range(_MOST_STEPS):
            if not isinstance(test, ast.Name):
                break
            bindings = self.definitions.reaching(test)
            if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or bindings[0].path:
                break
            value = bindings[0].value
            if not isinstance(value, (ast.Name, ast.Attribute, ast.Compare, ast.BoolOp, ast.UnaryOp)):
                if isinstance(value, ast.Call) and _CHECKS.search((last_name(value) or "").lower()):
                    return value
                break
            test = value
        return test

    def text(self, node: ast.AST) -> str:
        """Return the source of a node in one line."""
        return " ".join(self.syntax.text[slice(*self.syntax.positions.span(node))].split())

    def _is_parameter(self, name: ast.Name) -> bool:
        bindings = self.definitions.reaching(name)
        return len(bindings) == 1 and bindings[0].kind is BindingKind.PARAMETER

    def _interval(self, modulo: ast.BinOp, test: ast.expr, *, taken: bool) -> Condition | None:
        """Return the interval of `step % n == 0` and `not step % n`, or of `step % n` and `step % n != 0` if
        they must be false.
        """
        share = 1
        if isinstance(test, ast.Compare):
            op, bound = test.ops[0], test.comparators[0]
            if not isinstance(op, (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt)):
                return Condition(GuardKind.OTHER)
            if isinstance(op, (ast.NotEq, ast.Gt)) is taken:
                return None  # the iterations in between
            if taken and isinstance(op, ast.Lt) and isinstance(bound, ast.Constant):
                share = bound.value if isinstance(bound.value, int) else 1
        elif taken:
            return None  # `step % n` holds in nearly every pass
        return self.after(modulo.right, self.text(modulo.left), share)

    def after(self, length: ast.expr, counter: str, share: int = 1) -> Condition | None:
        """Return the condition that holds each time a counter has advanced so far (for a `share` of the
        iterations).
        """
        period = self._period(length)
        if period is not None:
            period //= max(share, 1)
            if period < 2:
                return None
        found = self._every_so_many(counter, self.text(length), period, last_name(length) or "")
        return found._replace(
            is_parameter=isinstance(length, ast.Name) and self._is_parameter(length),
            is_own=_is_own(length),
        )

    def _kept_by_hand(self, test: ast.Compare, *, taken: bool) -> tuple[Condition | None] | None:
        """Return the interval of a counter kept by hand: `if self.since >= n: self.since = 0`, `self.count =
        (self.count + 1) % n; if self.count == 0`, and `step // n > last`; None for other comparisons.
        """
        op, left, right = test.ops[0], test.left, test.comparators[0]
        if isinstance(op, (ast.Eq, ast.NotEq)) and isinstance(right, ast.Constant) and _is_read(left):
            modulo = self.by_hand.modulo(left)
            if modulo is not None:
                return (self._interval(modulo, test, taken=taken),)
        if taken is not isinstance(op, ast.NotEq):
            length = self.by_hand.length(test)
            if length is not None:
                return (self.after(length, self.text(left)),)
        match left:
            case ast.BinOp(op=ast.FloorDiv()) if not isinstance(right, ast.Constant):
                is_counted = any(_PROGRESS.search(word) for word in words_of(left.left))
                if is_counted and isinstance(op, (ast.NotEq, ast.Gt) if taken else (ast.Eq, ast.LtE)):
                    return (self.after(left.right, self.text(left.left)),)
        return None

    def _period(self, length: ast.expr) -> int | None:
        if isinstance(length, ast.Name):
            bindings = self.definitions.reaching(length)
            if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN and bindings[0].value:
                length = bindings[0].value
        if isinstance(length, ast.Constant) and isinstance(length.value, (int, float)):
            return int(length.value)
        return None

    def _every_so_many(
        self, counter: str, text: str, period: int | None = None, decider: str = "", *, reached: bool = True
    ) -> Condition:
        if period is None:
            is_rare = bool(_RARE.search(text.lower()))
            cap = Heat.WARM if is_rare and reached else Heat.HOT
            return Condition(GuardKind.INTERVAL, cap, counter, None, decider)
        return Condition(GuardKind.INTERVAL, Heat.WARM if period >= OFTEN else Heat.HOT, counter, period)

    def _compared(self, test: ast.Compare, *, taken: bool) -> Condition | None:
        op, left, right = test.ops[0], test.left, test.comparators[0]
        names = [(last_name(side) or "").lower().lstrip("_") for side in (left, right)]
        constant = right.value if isinstance(right, ast.Constant) else ...
        if isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            return self._equal(test, names, constant, same=isinstance(op, (ast.Is, ast.Eq)) is taken)
        words = words_of(test)
        if isinstance(op, (ast.In, ast.NotIn)):
            inside = isinstance(op, ast.In) is taken
            if any(_ENDS.search(word) for word in words):
                has_ended = any(_ENDED.search(word) for word in words)
                return Condition(GuardKind.ENDS, Heat.WARM if has_ended else Heat.HOT) if inside else None
            if _COUNTER.search(names[0]):
                moments = bool(_PROGRESS.search(names[0]) or _RARE.search(names[1]))
                return self._moment(test, reached=moments) if inside else None
            if not inside and self._is_kept_by_key(test):
                return Condition(GuardKind.ONCE, Heat.WARM)
            return Condition(GuardKind.OTHER)
        more = isinstance(op, (ast.Gt, ast.GtE)) is taken
        if any(_BEST.search(word) for word in words):
            is_best = taken and any(map(_SURELY_BEST.search, names))
            return Condition(GuardKind.BEST, Heat.WARM if is_best else Heat.HOT)
        if any(_CLOCK.search(word) for word in words):
            return Condition(GuardKind.CLOCK, Heat.WARM if more else Heat.HOT)
        if any(_MOMENT.search(word) for word in words):
            is_turned = _AHEAD.search(names[0]) and not _AHEAD.search(names[1])
            return self._moment(test, reached=more is not bool(is_turned))
        if isinstance(constant, int) and _is_read(left) and is_observation(names[0]):
            return self.of(left, taken=more)
        if isinstance(constant, int) and _SWITCH.search(names[0]):
            return Condition(
                GuardKind.SWITCH, _cap_of(GuardKind.SWITCH, names[0], taken=more)
            )  # `verbose > 1`
        if not more and _is_length_of_memory(left):
            return Condition(GuardKind.ONCE, Heat.WARM)  # until it is filled: `len(memory) < prefill`
        if not more and _THRESHOLD.search(names[1]) and not _THRESHOLD.search(names[0]):
            return Condition(GuardKind.OTHER)  # only while a memory is short: `len(memory) < batch_size`
        reached_soon = _REACHED_SOON.search(names[1 if more else 0])
        return (
            None if reached_soon or (more and _REACHED_SOON.search(names[0])) else Condition(GuardKind.OTHER)
        )

    def _equal(
        self, test: ast.Compare, names: list[str], constant: object, *, same: bool
    ) -> Condition | None:
        """Return the condition of `left == right`, `left is right` (`same`) and their opposites."""
        if constant is None:
            if not same:
                if any(_ENDED.search(word) for word in self._words_of_value(test.left)):
                    return Condition(GuardKind.ENDS, Heat.WARM)
                return Condition(GuardKind.PRESENT)
            again = self._made_again(test)
            if again is not None:
                return again
            if self._is_only_given(test.left):
                return Condition(GuardKind.OTHER)  # a setting: `self.tau is None`
            # created once, at first use; a parameter that may be None does not show that
            is_kept = self._outlives_call(test.left) and isinstance(test.ops[0], ast.Is)
            return Condition(GuardKind.ONCE, Heat.COLD if is_kept else Heat.HOT)
        if isinstance(constant, bool):
            return self.of(test.left, taken=constant is same)
        if same and constant in _RARE_DEVICES:
            return Condition(GuardKind.SWITCH, Heat.WARM)  # a workaround: `if device.type == "mps"`
        if isinstance(constant, int) and _is_read(test.left) and is_observation(names[0]):
            return self.of(test.left, taken=bool(constant) is same)  # `verbose == 1`
        if any(_RANK.search(name) for name in names):
            return Condition(GuardKind.RANK) if same else Condition(GuardKind.OTHER)
        otherwise = Condition(GuardKind.PRESENT) if _stands_for_none(test.comparators[0]) else None
        is_last = _LAST.search(names[1]) and _COUNTER.search(names[0])
        if not is_last and any(_MOMENT.search(name) for name in names):
            return self._moment(test) if same else otherwise
        if _COUNTER.search(names[0]) and not isinstance(test.left, ast.Call):
            once = Condition(GuardKind.ONCE, Heat.COLD if constant in (0, 1) else Heat.WARM)
            return once if same else otherwise
        return Condition(GuardKind.OTHER)

    def _is_kept_by_key(self, test: ast.Compare) -> bool:
        function = self.syntax.function(test)
        return function is not None and is_kept_by_key(test, function)

    def _is_only_given(self, kept: ast.expr) -> bool:
        """Whether an attribute of `self` only gets its values in the constructor, from its parameters."""
        if (
            not isinstance(kept, ast.Attribute)
            or not isinstance(kept.value, ast.Name)
            or kept.value.id != "self"
        ):
            return False
        stores = [
            use
            for use in self.syntax.written.attributes.get(kept.attr, ())
            if not isinstance(use.ctx, ast.Load)
        ]
        return bool(stores) and all(self._is_given_by_caller(store) for store in stores)

    def _is_given_by_caller(self, store: ast.Attribute) -> bool:
        function, parent = self.syntax.function(store), self.syntax.parents.get(store)
        if not isinstance(function, FUNCTIONS) or function.name != "__init__":
            return False
        given = parent.value if isinstance(parent, (ast.Assign, ast.AnnAssign)) else None
        arguments = function.args
        names = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        return isinstance(given, ast.Name) and given.id in names

    def _outlives_call(self, kept: ast.expr) -> bool:
        """Whether a value is still there at the next call: an attribute, or a `global` variable."""
        if isinstance(kept, ast.Name):
            return any(kept.id in declared.names for declared in self.syntax.of_type(ast.Global))
        return isinstance(kept, ast.Attribute)

    def _made_again(self, test: ast.Compare) -> Condition | None:
        """Return how often an object that is created at need is created again: its function sets it to `None`
        after the test, or a gradient step of the file does, each time or when an episode ends. None if it is
        created once.
        """
        function = self.syntax.function(test)
        for cleared in self.by_hand.cleared(test.left):
            place = self.syntax.function(cleared)
            is_after = place is not None and place is function and cleared.lineno > test.lineno
            if is_after and self._is_at_end(cleared):
                return Condition(GuardKind.ENDS, Heat.WARM)
            is_step = isinstance(test.ops[0], ast.Is) and getattr(place, "name", "") in LEARNS
            if (is_after or is_step) and self._is_often(cleared):
                return Condition(GuardKind.OTHER)
        return None

    def _is_often(self, statement: ast.stmt) -> bool:
        """Whether a statement depends on no condition that may be true rarely."""
        inner: ast.AST = statement
        outer = self.syntax.parents.get(inner)
        while outer is not None and not isinstance(outer, FUNCTIONS):
            if isinstance(outer, ast.If) and inner is not outer.test:
                condition = self.of(self.meaning(outer.test), taken=inner in outer.body)
                # a comparison with an unknown meaning may hold often (`part == last`), a flag need not
                is_compared = isinstance(outer.test, ast.Compare)
                recurs = _RECURRING | {GuardKind.OTHER} if is_compared else _RECURRING
                if condition is not None and (condition.kind not in recurs or condition.cap is Heat.COLD):
                    return False
            inner, outer = outer, self.syntax.parents.get(outer)
        return True

    def _is_at_end(self, statement: ast.stmt) -> bool:
        """Whether a statement only runs when an episode ends."""
        for around in self.syntax.ancestors(statement):
            if isinstance(around, FUNCTIONS):
                return False
            if isinstance(around, ast.If) and any(_ENDED.search(word) for word in words_of(around.test)):
                return True
        return False

    def _words_of_value(self, expression: ast.expr) -> set[str]:
        """Return the names and texts in an expression, and in the value of a variable: `score =
        info["episode_return"]`.
        """
        found = words_of(expression)
        if isinstance(expression, ast.Name):
            for binding in self.definitions.reaching(expression):
                if binding.kind is BindingKind.ASSIGN and binding.value is not None and not binding.path:
                    found |= words_of(binding.value)
        return found

    def _moment(self, test: ast.Compare, *, reached: bool = True) -> Condition:
        """Return the condition of `step == next_log`, `step in milestones`, `step - last >= every`."""
        left, right = self.text(test.left), self.text(test.comparators[0])
        length = last_name(test.comparators[0]) if isinstance(test.ops[0], (ast.GtE, ast.Gt)) else None
        return self._every_so_many(left, f"{left} {right}", decider=length or "", reached=reached)


@lru_cache(maxsize=4096)
def is_observation(name: str) -> bool:
    """Whether a switch of this name enables an observation: a log, a plot, a debugging aid."""
    plain = name.lower().lstrip("_")
    return bool(_OBSERVATION.search(plain)) and not _LOGARITHM.search(plain)


def words_of(expression: ast.expr) -> set[str]:
    """Return the names and texts in an expression, in lower case."""
    found = set()
    for node in descendants(expression):
        name = getattr(node, "attr", None) or getattr(node, "id", None) or getattr(node, "value", None)
        if isinstance(name, str):
            found.add(name.lower().lstrip("_"))
    return found


def _modulo(test: ast.expr) -> ast.BinOp | None:
    """Return the `step % n` that a test compares."""
    match test:
        case ast.BinOp(op=ast.Mod() | ast.BitAnd()):
            return test
        case ast.Compare(left=ast.BinOp(op=ast.Mod()) as modulo, ops=[_]):
            return modulo
        case ast.Compare(
            left=ast.Constant(), ops=[ast.Eq() | ast.NotEq()], comparators=[ast.BinOp(op=ast.Mod()) as modulo]
        ):
            return modulo
    return None


@lru_cache(maxsize=4096)
def _kind_of_name(name: str, owner: str, *, taken: bool) -> GuardKind | None:
    """Return the kind of a condition that is a name (an attribute of `owner`), None if it usually holds."""
    if _MAIN.search(name) or _RANK.search(name):
        return GuardKind.RANK if taken is bool(_MAIN.search(name)) else GuardKind.OTHER
    if _ENDS.search(name):
        return GuardKind.ENDS if taken else None
    if _BEST.search(name):
        return GuardKind.BEST if taken else GuardKind.OTHER
    if _SWITCH.search(name) or _OPTIONS.search(owner):
        return GuardKind.SWITCH
    if _AT_INTERVALS.search(name):
        return GuardKind.INTERVAL if taken else None
    return None if _USUALLY_SET.search(name) and taken else GuardKind.OTHER


def _stands_for_none(value: ast.expr) -> bool:
    """Whether a number is no count and no index, but says that there is none: `requested_idx != -1`."""
    match value:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())):
            return True
    return False


def _is_read(test: ast.expr) -> bool:
    return isinstance(test, (ast.Name, ast.Attribute))


def _is_own(expression: ast.expr) -> bool:
    """Whether an expression is an attribute of `self`."""
    match expression:
        case ast.Attribute(value=ast.Name(id="self")):
            return True
    return False


@lru_cache(maxsize=4096)
def _cap_of(kind: GuardKind, name: str, *, taken: bool) -> Heat:
    if kind is GuardKind.ENDS:
        return Heat.WARM if _ENDED.search(name) else Heat.HOT
    if kind is GuardKind.BEST:
        return Heat.WARM if _SURELY_BEST.search(name) else Heat.HOT
    return Heat.COLD if taken and _DEBUG.search(name) else Heat.HOT


def _is_length_of_memory(length: ast.expr) -> bool:
    """Whether a value is the number of items in a replay memory, judging by its name."""
    match length:
        case ast.Call(func=ast.Name(id="len"), args=[held]):
            return bool(_MEMORY.search((last_name(held) or "").lower()))
    return False
