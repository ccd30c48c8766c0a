"""Conditions around a line that make it run less often than the loop it stands in."""

from __future__ import annotations

import ast
import re

from rlint.findings import Heat
from rlint.frozen import frozen
from rlint.regex import regex
from rlint.semantics.frequency.lazy_init import where_it_leaves
from rlint.syntax.last_names import last_name
from rlint.syntax.syntax_index import FUNCTIONS, LOOPS, Function, SyntaxIndex
from rlint.syntax.walk import descendants, place_in_order

RARE_PERIOD = 50
"""Every so many passes a guarded line counts as one level colder than its loop."""

_RARE_WORDS = regex(
    r"log|eval|save|sav|checkpoint|ckpt|print|render|record|video|report|test|plot|display|summary"
)
_INTERVAL_WORDS = regex(r"interval|freq|every|period")
_DEBUG_WORDS = regex(r"(^|_)(verbose|debug|profile|dry_run|sanity)", re.IGNORECASE)
_EPISODE_END = regex(
    r"(^|_)(done|dones|terminated|truncated|terminal|terminals|episode_over|game_over|finished)$"
)
_BEST = regex(r"(^|_)best")


@frozen
class PassInterval:
    """`if counter % period == 0`: the period where it is a constant, and its text."""

    period: int | None
    counter: str
    text: str


def interval_of(test: ast.expr, syntax: SyntaxIndex) -> PassInterval | None:
    """The interval that a condition tests for, also as one part of an `and`."""
    for part in _conjuncts(test):
        modulo = None
        if (
            isinstance(part, ast.Compare)
            and isinstance(part.left, ast.BinOp)
            and isinstance(part.left.op, ast.Mod)
        ):
            if any(isinstance(op, (ast.Eq, ast.LtE, ast.Lt)) for op in part.ops):
                modulo = part.left
        elif (
            isinstance(part, ast.UnaryOp)
            and isinstance(part.op, ast.Not)
            and isinstance(part.operand, ast.BinOp)
        ):
            modulo = part.operand if isinstance(part.operand.op, ast.Mod) else None
        if modulo is not None:
            start, end = syntax.positions.span(modulo.right)
            counter = syntax.positions.span(modulo.left)
            return PassInterval(
                _constant_int(modulo.right), syntax.text[slice(*counter)], syntax.text[start:end]
            )
    return None


def _constant_int(node: ast.expr) -> int | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return int(node.value)
    return None


_LIMITS = frozenset(
    {
        *LOOPS,
        *FUNCTIONS,
        ast.Lambda,
        ast.If,
        ast.IfExp,
        ast.Raise,
        ast.Assert,
        ast.ExceptHandler,
        ast.match_case,
    }
)
"""What may let its parts run less often than it runs itself."""
_STARTS = frozenset({*LOOPS, *FUNCTIONS, ast.Lambda})
"""What the lines in it are compared with."""


class FrequencyBounds:
    """How hot the lines of a file can be at most, given the conditions between them and their loops."""

    def __init__(self, syntax: SyntaxIndex) -> None:
        self.syntax = syntax
        self._known: dict[ast.AST, Heat] = {}
        self._leaves: dict[Function, ast.stmt | None] = {}

    def of(self, node: ast.AST) -> Heat:
        """The cap of one line. What stands around it is asked once for all that stand in it."""
        if node in self.syntax.buried:
            return Heat.COLD
        child: ast.AST | None = self.syntax.wholes.of(node)
        passed: list[tuple[ast.AST, Heat]] = []
        cap = Heat.HOT
        while child is not None:
            known = self._known.get(child)
            if known is not None:
                cap = known
                break
            parent = self.syntax.parents.get(child)
            passed.append((child, self._between(child, parent)))
            child = None if type(parent) in _STARTS else parent
        for inner, own in reversed(passed):
            cap = self._known[inner] = min(cap, own)
        return cap

    def _is_made_before(self, function: Function, child: ast.AST) -> bool:
        """Whether a statement of a function's body comes after it left once what it makes is there."""
        if function not in self._leaves:
            self._leaves[function] = where_it_leaves(function)
        leaves = self._leaves[function]
        is_after = leaves is not None and place_in_order(child) > place_in_order(leaves)
        return is_after and isinstance(child, ast.stmt)

    def _between(self, child: ast.AST, parent: ast.AST | None) -> Heat:
        """How hot a part of a node can be, compared with the node."""
        if parent is None or type(parent) not in _LIMITS:
            return Heat.HOT
        if type(parent) in _STARTS:
            made = isinstance(parent, FUNCTIONS) and self._is_made_before(parent, child)
            return Heat.COLD if made else Heat.HOT
        if _fails(child, parent, self.syntax):
            return Heat.COLD
        if isinstance(parent, ast.If) and child is not parent.test:
            return _cap(parent.test, self.syntax, taken=_is_in_body(child, parent, self.syntax))
        if isinstance(parent, ast.IfExp) and child is not parent.test:
            return _cap(parent.test, self.syntax, taken=child is parent.body)
        return Heat.HOT


def _fails(child: ast.AST, parent: ast.AST, syntax: SyntaxIndex) -> bool:
    """Is the child run only on the way to an error: in a `raise`, a block that ends in one, an assertion's
    message?
    """
    if isinstance(parent, ast.Raise):
        return True
    if isinstance(parent, ast.Assert):
        return child is parent.msg
    if isinstance(parent, (ast.If, ast.ExceptHandler, ast.match_case)) and isinstance(child, ast.stmt):
        return isinstance(syntax.block(child)[0][-1], ast.Raise)
    return False


def _is_in_body(child: ast.AST, parent: ast.If, syntax: SyntaxIndex) -> bool:
    return isinstance(child, ast.stmt) and syntax.block(child)[0] is parent.body


def _cap(test: ast.expr, syntax: SyntaxIndex, *, taken: bool) -> Heat:
    if not taken:
        # the else of "not yet made" or "not debugging" is the usual path
        return Heat.HOT
    cap = Heat.HOT
    for part in _conjuncts(test):
        cap = min(cap, _cap_of_part(part, syntax))
    return cap


def _cap_of_part(part: ast.expr, syntax: SyntaxIndex) -> Heat:
    interval = interval_of(part, syntax)
    if interval is not None:
        if interval.period is not None:
            return Heat.WARM if interval.period >= RARE_PERIOD else Heat.HOT
        return Heat.WARM if _RARE_WORDS.search(interval.text.lower()) else Heat.HOT
    if isinstance(part, ast.Compare):
        words = " ".join(
            name
            for node in descendants(part)
            if (name := getattr(node, "attr", None) or getattr(node, "id", None))
        ).lower()
        if _INTERVAL_WORDS.search(words) and _RARE_WORDS.search(words):
            return Heat.WARM
    match part:
        case ast.Compare(ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            # made once, at first use; a parameter that may be None says nothing of the kind
            return Heat.COLD if isinstance(part.left, ast.Attribute) else Heat.HOT
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="hasattr"))):
            return Heat.COLD
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=0 | 1)]) if _counts(left):
            return Heat.COLD
        case ast.Compare(left=left, ops=[ast.Gt() | ast.Lt() | ast.GtE() | ast.LtE()], comparators=[right]):
            names = (last_name(left), last_name(right))
            return Heat.WARM if any(name and _BEST.search(name) for name in names) else Heat.HOT
    name = last_name(part)
    if name is None:
        return Heat.HOT
    if _DEBUG_WORDS.search(name):
        return Heat.COLD
    return Heat.WARM if _EPISODE_END.search(name) else Heat.HOT


def _counts(expression: ast.expr) -> bool:
    name = last_name(expression)
    return name is not None and bool(
        re.search(r"(step|iter|iteration|epoch|episode|idx|index|count|counter|^i|^t)$", name)
    )


def _conjuncts(test: ast.expr) -> list[ast.expr]:
    if isinstance(test, ast.BoolOp):
        # `terminated or truncated`: each side is judged alone, and the whole is as hot as the hottest
        if isinstance(test.op, ast.And):
            return [part for value in test.values for part in _conjuncts(value)]
        return (
            test.values[:1]
            if all(_EPISODE_END.search(last_name(value) or "") for value in test.values)
            else []
        )
    return [test]
