"""Conditions and loops that hold only at the beginning of a run: warm-up phases, counters that run down."""

from __future__ import annotations

import ast

from rlint.models import vocabulary
from rlint.regex import regex
from rlint.semantics.dataflow.reaching_definitions import ReachingDefinitions
from rlint.syntax.assignments import value_assigned
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import FUNCTIONS, LOOPS, SyntaxIndex

_LIMIT = regex(
    r"(^|_)(warm_?up(_?\w*)|(learn(ing)?|train(ing)?|updates?)_starts?|starts?_(steps?|timesteps?|training"
    r"|learning|train|updates?|size)|random_(steps|timesteps|episodes)|init(ial)?_(steps|random\w*|explor\w*"
    r"|collect\w*)|seed_steps|prefill\w*|explor(e|ation|atory)_(steps|timesteps|iterations|episodes)"
    r"|(steps|timesteps|iterations|episodes)_explor(e|ation)|unsup\w*_steps|min_(buffer|replay|memory)\w*)$"
)
"""Names of the number of steps, or of samples, at the beginning."""
_COUNTER = regex(
    r"(^|_)(steps?|timesteps?|iters?|iterations?|epochs?|episodes?|updates?|frames?|counter|count|t|i|total_t)$"
)
_MEMORY = regex(r"memor|buffer|replay|^rb$")
_COUNTS = frozenset({"range", "trange"})
_MOST_COUNTED = 1000
"""Maximum number from which a counter runs down in a beginning."""
_DEPTH = 3
"""Maximum number of flags and variables that are followed to the condition that they hold."""


class Beginnings:
    """The conditions and loops of one file that hold only at the beginning."""

    def __init__(self, syntax: SyntaxIndex, definitions: ReachingDefinitions) -> None:
        self._syntax = syntax
        self._definitions = definitions

    def of(self, test: ast.expr, *, taken: bool, depth: int = _DEPTH) -> str:
        """Return the name of the number of steps after which a test no longer has an outcome:
        `learning_starts` of `step < learning_starts`, or the counter that runs down. "" for other tests.
        """
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.of(operand, taken=not taken, depth=depth)
            case ast.BoolOp(op=op, values=values):
                found = [self.of(value, taken=taken, depth=depth) for value in values]
                is_enough = isinstance(op, ast.And) is taken
                return next(filter(None, found), "") if is_enough or all(found) else ""
            case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE()], comparators=[right]):
                return self._below(left, right) if taken else self._below(right, left)
            case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE()], comparators=[right]):
                return self._below(right, left) if taken else self._below(left, right)
            case ast.Compare(
                left=left, ops=[ast.Eq() | ast.NotEq() as op], comparators=[ast.Constant(value=0)]
            ) if isinstance(op, ast.NotEq) is taken:
                return self._counted_down(left)
            case ast.Name() | ast.Attribute() if taken:
                return self._counted_down(test) or (self._flag(test, depth) if depth else "")
        return ""

    def of_loop(self, loop: ast.AST) -> str:
        """Return the same for a loop with a later one beside it, which is the main loop of the function."""
        limit: ast.expr | None = None
        if isinstance(loop, ast.For):
            iterable = loop.iter
            while isinstance(iterable, ast.Call) and iterable.args:
                if last_name(iterable.func) in _COUNTS:
                    limit = iterable.args[-1 if len(iterable.args) < 3 else 1]
                    break
                iterable = iterable.args[0]
        elif isinstance(loop, ast.While):
            match loop.test:
                case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE()], comparators=[right]):
                    limit = right if self._counts(left) else None
        name = _limit(limit) if limit is not None else ""
        return name if name and self._comes_before_another(loop) else ""

    def _below(self, counter: ast.expr, limit: ast.expr) -> str:
        if isinstance(counter, ast.Constant) and counter.value in (0, 1):
            return self._counted_down(limit)
        return _limit(limit) if self._counts(counter) else ""

    def _counts(self, counter: ast.expr) -> bool:
        """Whether an expression counts steps, or the items of a memory, since the beginning."""
        match counter:
            case ast.Call(func=ast.Name(id="len"), args=[held]):
                return bool(_MEMORY.search((last_name(held) or "").lower()))
            case ast.Name() | ast.Attribute():
                is_named = bool(_COUNTER.search((last_name(counter) or "").lower()))
                return is_named and not self._is_of_inner_loop(counter)
        return False

    def _is_of_inner_loop(self, counter: ast.expr) -> bool:
        """Whether a variable counts the iterations of a loop that another loop repeats."""
        if not isinstance(counter, ast.Name):
            return False
        return any(
            binding.kind is BindingKind.FOR and self._is_in_loop(binding.statement)
            for binding in self._definitions.reaching(counter)
        )

    def _is_in_loop(self, node: ast.AST) -> bool:
        for ancestor in self._syntax.ancestors(node):
            if isinstance(ancestor, (*LOOPS, *FUNCTIONS)):
                return isinstance(ancestor, LOOPS)
        return False

    def _comes_before_another(self, loop: ast.AST) -> bool:
        """Whether a loop that is not nested in it follows a loop in its function, outside of all loops."""
        if self._is_in_loop(loop):
            return False
        function, end = self._syntax.function(loop), getattr(loop, "end_lineno", 0)
        return any(
            other.lineno > end and self._syntax.function(other) is function
            for other in (*self._syntax.of_type(ast.For), *self._syntax.of_type(ast.While))
        )

    def _flag(self, flag: ast.expr, depth: int) -> str:
        """Return the same for a flag that other values than conditions of the beginning clear."""
        values = [each for each in self._values(flag) if not _is_false(each)]
        found = [self.of(each, taken=True, depth=depth - 1) if each is not None else "" for each in values]
        return found[0] if found and all(found) else ""

    def _counted_down(self, counter: ast.expr) -> str:
        """Return the name of a counter that begins at a small constant, and that other statements only
        decrease.
        """
        falls = False
        stores = self._stores(counter)
        for store in stores:
            parent = self._syntax.parents[store]
            match parent:
                case ast.AugAssign(op=ast.Sub(), value=ast.Constant(value=int())):
                    falls = True
                case ast.Assign(
                    value=ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=int()))
                ) if ast.dump(left) == ast.dump(counter):
                    falls = True
                case (
                    ast.Assign(value=ast.Constant(value=int() as first))
                    | ast.AnnAssign(value=ast.Constant(value=int() as first))
                ) if first <= _MOST_COUNTED and self._is_set_once(store):
                    pass
                case _:
                    return ""
        return (last_name(counter) or "") if falls and len(stores) > 1 else ""

    def _is_set_once(self, store: ast.expr) -> bool:
        """Whether an assignment runs once for an object, or once in a function."""
        if isinstance(store, ast.Attribute):
            return getattr(self._syntax.function(store), "name", "") in vocabulary.CONSTRUCTORS
        return not self._is_in_loop(store)

    def _values(self, target: ast.expr) -> list[ast.expr | None]:
        """Return the values that are assigned to a variable or attribute of `self`; None for others."""
        if isinstance(target, ast.Name):
            return [
                binding.value if binding.kind is BindingKind.ASSIGN and not binding.path else None
                for binding in self._definitions.reaching(target)
            ]
        return [value_assigned(store, self._syntax.parents) for store in self._stores(target)]

    def _stores(self, target: ast.expr) -> list[ast.expr]:
        """Return the places that assign to a variable of the function, or to an attribute of `self`."""
        if isinstance(target, ast.Attribute):
            if not isinstance(target.value, ast.Name) or target.value.id != "self":
                return []
            return [
                use
                for use in self._syntax.written.attributes.get(target.attr, ())
                if not isinstance(use.ctx, ast.Load)
            ]
        if not isinstance(target, ast.Name):
            return []
        function = self._syntax.function(target)
        return [
            use
            for use in self._syntax.variables.named(target.id)
            if not isinstance(use.ctx, ast.Load) and self._syntax.function(use) is function
        ]


def _limit(expression: ast.expr) -> str:
    """Return the name of the number of steps at the beginning: `learning_starts`, or of a product of it."""
    match expression:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            found = [_limit(part) for part in (left, right) if not isinstance(part, ast.Constant)]
            return found[0] if found and all(found) else ""
        case ast.BinOp(left=left, op=ast.Mult() | ast.FloorDiv() | ast.Sub()):
            return _limit(left)
    name = last_name(expression) or ""
    return name if _LIMIT.search(name.lower()) else ""


def _is_false(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and not value.value
