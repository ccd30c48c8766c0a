"""Order of evaluation of the parts of an expression, and which parts are always evaluated."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.syntax.syntax_index import SyntaxIndex
from rlint.syntax.walk import children

_Child = tuple[ast.AST, bool]  # a part, and whether evaluating the whole always evaluates it

_ITERATE = (
    models.names_having(
        Trait.ITERATES, "builtins", "collections", "math", "numpy", TypeTag.LIST, TypeTag.DICT, TypeTag.STR
    )
    - frozenset(name.removeprefix("builtins.") for name in models.giving(TypeTag.ITERATOR, "builtins"))
    - {"next"}
)
"""Functions and methods that exhaust an iterator when they are called."""


class EvaluationOrder:
    """The order of evaluation in one file."""

    def __init__(self, syntax: SyntaxIndex) -> None:
        self.syntax = syntax
        self._children: dict[ast.AST, list[_Child]] = {}
        self._places: dict[ast.AST, dict[ast.AST, int]] = {}

    def position(self, node: ast.AST) -> tuple[int, ...]:
        """Sort key of nodes in one function by when they are first evaluated: the statement, then the path
        down to the node, in evaluation order.
        """
        way: list[int] = []
        child = node
        while not isinstance(child, ast.stmt):
            parent = self.syntax.parents[child]
            way.append(self._index(parent, child))
            child = parent
        return (child.lineno, child.col_offset, *reversed(way))

    def always_before(self, first: ast.expr, second: ast.expr) -> bool:
        """Whether `first` is evaluated before `second` whenever `second` is, in the same iteration of the
        loops around both. For two statements: whether the second is reached only after the first has run
        completely.
        """
        here, there = self.syntax.statement(first), self.syntax.statement(second)
        if here is not there:
            return self._reached(first, second, here) and not self._deferred(second, there)
        meeting, to_first, to_second = self._meeting(first, second)
        if to_first is meeting or to_second is meeting:
            return False
        if self._index(meeting, to_first) >= self._index(meeting, to_second):
            return False
        outcome: bool | None = None
        if isinstance(meeting, ast.BoolOp):
            outcome = isinstance(meeting.op, ast.And)
        elif isinstance(meeting, ast.IfExp):
            if to_first is not meeting.test:
                return False
            outcome = to_second is meeting.body
        elif isinstance(meeting, ast.comprehension):
            outcome = True
        elif isinstance(to_first, ast.comprehension):
            to_first, outcome = self._below(first, to_first), True
        return self.always_within(first, to_first, outcome=outcome) and not self._deferred(second, meeting)

    def is_put_off(self, node: ast.AST, since: ast.AST) -> bool:
        """Whether a node may be evaluated later than its position: in a lambda or a generator expression that
        does not contain `since`, which is evaluated before.
        """
        here, there = self.syntax.statement(since), self.syntax.statement(node)
        return self._deferred(node, there if here is not there else self._meeting(since, node)[0])

    def always_within(self, node: ast.AST, whole: ast.AST, *, outcome: bool | None = None) -> bool:
        """Whether evaluating `whole` (of a compound statement: its header) always evaluates `node` once.
        `outcome`, if given, is the known truth value of the whole.
        """
        way = self._path(node)
        way = way[: way.index(whole) + 1]
        for parent, child in zip(reversed(way[1:]), reversed(way[:-1]), strict=True):
            continues = isinstance(parent, ast.BoolOp) and outcome is isinstance(parent.op, ast.And)
            if continues or (isinstance(parent, ast.Compare) and outcome is True):
                pass  # the whole can have this truth value only after all of its parts were evaluated
            elif not dict(self._ordered(parent)).get(child, False):
                return False
            if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not) and outcome is not None:
                outcome = not outcome
            elif not continues and not isinstance(parent, ast.NamedExpr):
                outcome = None
        return True

    def earlier(self, node: ast.AST, whole: ast.AST) -> Iterator[ast.AST]:
        """Yield what `whole` evaluates before `node`, except its ancestors."""
        child = node
        while child is not whole:
            parent = self.syntax.parents[child]
            for sibling, _ in self._ordered(parent):
                if sibling is child:
                    break
                yield sibling
            child = parent

    def later(self, node: ast.AST, whole: ast.AST) -> Iterator[ast.AST]:
        """Yield what `whole` evaluates after `node`, except its ancestors."""
        child = node
        while child is not whole:
            parent = self.syntax.parents[child]
            parts = [part for part, _ in self._ordered(parent)]
            if child in parts:
                yield from parts[parts.index(child) + 1 :]
            if isinstance(parent, ast.AugAssign) and child is parent.value:
                yield parent.target  # read before, and bound after
            child = parent

    def evaluated_between(self, first: ast.expr, second: ast.expr) -> tuple[list[ast.AST], list[ast.AST]]:
        """Return what is evaluated between two expressions in their statements, if `first` always precedes:
        whole parts, and the ancestors of `first` that are evaluated after it.
        """
        here, there = self.syntax.statement(first), self.syntax.statement(second)
        around = self._path(first)
        if here is not there:
            return [*self.later(first, here), *self.earlier(second, there)], around[1:-1]
        meeting, to_first, to_second = self._meeting(first, second)
        parts = [part for part, _ in self._ordered(meeting)]
        passed = parts[parts.index(to_first) + 1 : parts.index(to_second)]
        whole = [*self.later(first, to_first), *passed, *self.earlier(second, to_second)]
        return whole, around[1 : around.index(meeting)]

    def _reached(self, first: ast.expr, second: ast.expr, statement: ast.stmt) -> bool:
        if isinstance(statement, (ast.If, ast.While)):
            below = next((node for node in self._ancestry(second) if node in statement.body), None)
            if below is not None:
                return self.always_within(first, statement.test, outcome=True)
            if any(node in statement.orelse for node in self._ancestry(second)):
                return self.always_within(first, statement.test, outcome=False)
        return self.always_within(first, statement)

    def _ancestry(self, node: ast.AST) -> Iterator[ast.AST]:
        yield node
        yield from self.syntax.ancestors(node)

    def _meeting(self, first: ast.AST, second: ast.AST) -> tuple[ast.AST, ast.AST, ast.AST]:
        """Return the innermost common ancestor, and the nodes below it on the path to each."""
        above = set(self._path(first))
        meeting = next(node for node in self._path(second) if node in above)
        return meeting, self._below(first, meeting), self._below(second, meeting)

    def _path(self, node: ast.AST) -> list[ast.AST]:
        path = [node]
        while not isinstance(path[-1], ast.stmt):
            path.append(self.syntax.parents[path[-1]])
        return path

    def _below(self, node: ast.AST, ancestor: ast.AST) -> ast.AST:
        child = node
        while child is not ancestor and self.syntax.parents[child] is not ancestor:
            child = self.syntax.parents[child]
        return child

    def _deferred(self, node: ast.AST, whole: ast.AST) -> bool:
        """Whether a node between the two defers evaluation: a lambda, or a generator expression that is not
        passed straight to its consumer.
        """
        child = inner = node
        while child is not whole:
            parent = self.syntax.parents[child]
            if isinstance(parent, ast.Lambda):
                return True
            if isinstance(parent, ast.GeneratorExp):
                first = parent.generators[0]
                at_once = child is first and inner is first.iter
                if not (at_once or _is_used_up(parent, self.syntax.parents[parent])):
                    return True
            child, inner = parent, child
        return False

    def _index(self, parent: ast.AST, child: ast.AST) -> int:
        known = self._places.get(parent)
        if known is None:
            parts = enumerate(self._ordered(parent))
            known = self._places[parent] = {part: index for index, (part, _) in parts}
        return known.get(child, len(known))

    def _ordered(self, node: ast.AST) -> list[_Child]:
        known = self._children.get(node)
        if known is None:
            if type(node) in _OTHERWISE:
                known = list(_ordered(node))
            else:
                known = [(child, True) for child in children(node)]
            self._children[node] = known
        return known


def _is_used_up(made: ast.GeneratorExp, holder: ast.AST) -> bool:
    """Whether a call exhausts the generator expression that it is passed before it does anything else."""
    match holder:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return made in holder.args and name in _ITERATE
    return False


_OTHERWISE = frozenset(
    {
        ast.AnnAssign, ast.Assert, ast.Assign, ast.AsyncFor, ast.AsyncFunctionDef, ast.AsyncWith, ast.BoolOp,
        ast.ClassDef, ast.Compare, ast.Dict, ast.DictComp, ast.For, ast.FunctionDef, ast.GeneratorExp, ast.If,
        ast.IfExp, ast.Lambda, ast.ListComp, ast.Match, ast.NamedExpr, ast.SetComp, ast.Try, ast.While,
        ast.With, ast.comprehension,
    }
)  # fmt: skip
"""The parts of all other nodes are evaluated in source order."""


def _ordered(node: ast.AST) -> Iterator[_Child]:
    """Yield the parts of a node in evaluation order, for nodes whose order is not that of the source."""
    match node:
        case ast.BoolOp(values=values):
            yield from ((value, index == 0) for index, value in enumerate(values))
        case ast.Compare(left=left, comparators=comparators):
            yield left, True
            yield from ((value, index == 0) for index, value in enumerate(comparators))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield from ((test, True), (body, False), (orelse, False))
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if key is not None:
                    yield key, True
                yield value, True
        case ast.DictComp(key=key, value=value, generators=generators):
            yield from ((generator, index == 0) for index, generator in enumerate(generators))
            yield from ((key, False), (value, False))
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            yield from ((generator, index == 0) for index, generator in enumerate(node.generators))
            yield node.elt, False
        case ast.comprehension(target=target, iter=iterable, ifs=ifs):
            yield from ((iterable, True), (target, False))
            yield from ((condition, False) for condition in ifs)
        case ast.Lambda(args=arguments, body=body):
            yield from ((arguments, True), (body, False))
        case ast.NamedExpr(target=target, value=value):
            yield from ((value, True), (target, True))
        case ast.Assign(targets=targets, value=value):
            yield value, True
            yield from ((target, True) for target in targets)
        case ast.AnnAssign(target=target, annotation=annotation, value=value):
            if value is not None:
                yield value, True
            yield from ((target, True), (annotation, False))
        case ast.For(target=target, iter=iterable) | ast.AsyncFor(target=target, iter=iterable):
            yield from ((iterable, True), (target, False))
        case ast.While(test=test):
            yield test, False  # once per pass
        case ast.If(test=test):
            yield test, True
        case ast.Assert(test=test, msg=message):
            yield from ((part, part is test) for part in (test, message) if part is not None)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            yield from ((item, index == 0) for index, item in enumerate(items))
        case ast.Match(subject=subject):
            yield subject, True
        case ast.Try() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return
