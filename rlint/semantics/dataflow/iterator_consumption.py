"""Find iterators that code consumes, which are then exhausted for a second iteration."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from rlint import models
from rlint.frozen import frozen
from rlint.models.trait import Trait
from rlint.models.value_type import UNKNOWN, Type, TypeTag
from rlint.semantics.dataflow.evaluation_order import EvaluationOrder
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.call_targets import called_back
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import FunctionSummary, IteratedParameter
from rlint.semantics.types.algebra import draws_on_iteration
from rlint.syntax.queries import iterated_by
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import Function
from rlint.syntax.walk import descendants

_ITERATE = models.having(
    Trait.ITERATES, TypeTag.SET, TypeTag.LIST, TypeTag.DEQUE, TypeTag.DICT, TypeTag.STR, TypeTag.FILE
)
"""Methods that consume their argument."""
_HANDS_OUT = models.having(Trait.TAKES_OUT, TypeTag.LIST, TypeTag.DICT, TypeTag.DEQUE)
"""Methods that return an object that existed before the call."""
_OF_ITERATORS = (
    models.methods_of(TypeTag.FILE) | {"__iter__", "__next__", "send", "throw"} | {"mode", "name", "next"}
)
"""Attributes that iterators and files also have; using any other one shows that a value is not an
iterator.
"""
_AGAIN = frozenset({"builtins.len", "builtins.reversed"})
"""Calls that fail for an iterator."""
_READ_DATA = models.having(Trait.PARSES, "ast", "json", "orjson", "torch", "yaml")
_ANNOTATED = frozenset({TypeTag.LIST, TypeTag.TUPLE, TypeTag.SET})
"""Types of parameters for which calls also pass generators, whatever the annotation says."""
_LEAVES = (ast.Break, ast.Continue, ast.Raise, ast.Return)
_DEPTH = 6


Names = tuple[ast.expr, ...]


@frozen
class IteratorUse:
    """`what` is consumed at `place`; if `place` is a call of a project function, only if that function
    consumes its `argument` (a position or a keyword).
    """

    what: ast.expr
    place: ast.AST
    argument: str = ""


class IteratorUses:
    """The iterators that the code of one file consumes."""

    def __init__(self, analysis: FileAnalysis) -> None:
        self.analysis = analysis
        self._order = EvaluationOrder(analysis.syntax)
        self._shown: dict[str, dict[Function | None, list[ast.Name | ast.Attribute]]] = {}

    def summary(self, function: Function) -> tuple[IteratedParameter, ...]:
        """Return the parameters that a function of the file iterates over and that may be iterators."""
        found: dict[IteratedParameter, None] = {}
        for taken in self.taken(descendants(function)):
            path = ""
            if taken.argument:
                assert isinstance(taken.place, ast.Call)
                path = self.analysis.effects.path_of(taken.place) or ""
                if not path:
                    continue
            for source, again in self._possible(taken, function):
                found[self._described(source, function, path, taken.argument, again=again)] = None
        return tuple(found)

    def may_be_iterators(self, taken: IteratorUse) -> list[ast.expr]:
        """Return the iterated expressions that may be iterators shared with other code."""
        possible = self._possible(taken, self.analysis.syntax.function(taken.what))
        return [
            value
            for value, again in possible
            if not again or draws_on_iteration(self.analysis.types.type_of(value))
        ]

    def _possible(self, taken: IteratorUse, function: Function | None) -> list[tuple[ast.expr, bool]]:
        """Return the values that may be iterators, each with whether only a loader would allow other uses."""
        return [
            (names[-1], any(self._is_read_again(name, taken.place, function) for name in names))
            for names in self._sources(taken.what, (), _DEPTH)
        ]

    def taken(self, nodes: Iterable[ast.AST]) -> Iterator[IteratorUse]:
        """Yield all that some nodes consume, or pass to functions of the project."""
        for node in nodes:
            yield from (IteratorUse(value, node) for value in iterated_by(node))
            match node:
                case ast.Return(value=ast.expr() as value) if self._is_parameter(value):
                    yield IteratorUse(value, node)  # the callee may consume it
                case ast.Call():
                    yield from self._by_call(node)

    def _by_call(self, call: ast.Call) -> Iterator[IteratorUse]:
        qualified = self.analysis.names.qualified(call.func)
        if qualified is not None and models.consumes_iterators(qualified):
            called = called_back(call, qualified) if models.calls_back(qualified) else []
            if qualified in ("builtins.max", "builtins.min") and len(call.args) > 1:
                return  # of several numbers
            yield from (IteratorUse(value, call) for value in call.args if value not in called)
        elif qualified is not None and models.callable_fact(qualified) is not None:
            return
        elif isinstance(call.func, ast.Attribute) and call.func.attr in _ITERATE:
            yield from (IteratorUse(value, call) for value in call.args)
        else:
            places = [(str(position), value) for position, value in enumerate(call.args)]
            places += [(keyword.arg or "", keyword.value) for keyword in call.keywords]
            for argument, value in places:
                if argument and not isinstance(value, ast.Starred):
                    yield IteratorUse(value, call, argument)

    def _sources(self, value: ast.expr, names: Names, depth: int) -> list[Names]:
        """Return the variables, attributes and items that may hold the iterator that an expression evaluates
        to, each with the `names` that it had before. A call creates a new one each time, unless a variable
        keeps it.
        """
        match value:
            case ast.BoolOp(values=values):
                return [source for part in values for source in self._sources(part, names, depth - 1)]
            case ast.IfExp(body=body, orelse=orelse):
                return [source for part in (body, orelse) for source in self._sources(part, names, depth - 1)]
            case ast.NamedExpr(value=inner):
                return self._sources(inner, names, depth - 1)
            case ast.Call(func=called):
                handed_out = isinstance(called, ast.Attribute) and called.attr in _HANDS_OUT
                kept = (names or handed_out) and self._may_hold(value) and not self._is_data(called)
                return [names or (value,)] if kept else []
            case ast.Name() if self._may_hold(value):
                if depth <= 0:
                    return [(*names, value)]
                every = self.analysis.definitions.reaching(value)
                return [s for binding in every for s in self._bound_to(binding, (*names, value), depth)]
            case ast.Attribute() | ast.Subscript():
                return [(*names, value)] if self._may_hold(value) else []
            case ast.GeneratorExp() if names:
                return [names]
        return []

    def _is_data(self, called: ast.expr) -> bool:
        """Whether a call is like `json.loads`, which returns values of several types, but never an
        iterator.
        """
        return self.analysis.names.qualified(called) in _READ_DATA

    def _bound_to(self, binding: Binding, names: Names, depth: int) -> list[Names]:
        if (
            binding.kind in (BindingKind.ASSIGN, BindingKind.WALRUS)
            and binding.value is not None
            and not binding.path
        ):
            return self._sources(binding.value, names, depth - 1)
        if binding.kind in (BindingKind.FUNCTION, BindingKind.CLASS, BindingKind.IMPORT):
            return []
        if binding.kind is BindingKind.PARAMETER and _is_collected(binding):
            return []
        return [names]

    def _may_hold(self, value: ast.expr) -> bool:
        kind = self.analysis.types.type_of(value)
        if kind.tag is TypeTag.UNKNOWN:
            return self.analysis.names.qualified(value) is None
        if kind.tag in _ANNOTATED and self._is_annotated(value):
            return True  # a generator that some call passes all the same is used up as well
        return kind.tag in (TypeTag.ITERATOR, TypeTag.FILE) or draws_on_iteration(kind)

    def _is_annotated(self, value: ast.expr) -> bool:
        """Whether only the annotation of a parameter says that a value is a container."""
        if not isinstance(value, ast.Name):
            return False
        return any(
            binding.kind is BindingKind.PARAMETER and getattr(binding.node, "annotation", None) is not None
            for binding in self.analysis.definitions.reaching(value)
        )

    def _is_parameter(self, value: ast.expr) -> bool:
        if not isinstance(value, ast.Name):
            return False
        return any(b.kind is BindingKind.PARAMETER for b in self.analysis.definitions.reaching(value))

    def _described(
        self, source: ast.expr, function: Function, path: str, argument: str, *, again: bool
    ) -> IteratedParameter:
        kind = self.analysis.types.type_of(source)
        if isinstance(source, ast.Name):
            for binding in self.analysis.definitions.reaching(source):
                if binding.kind is BindingKind.PARAMETER and binding.statement is function:
                    return IteratedParameter(binding.name, kind, path, argument, again)
        return IteratedParameter("", kind, path, argument, again)

    # -- what shows that a value is no iterator ----------------------------------------------------

    def _is_read_again(self, source: ast.expr, place: ast.AST, function: Function | None) -> bool:
        """Whether the value is always also indexed or passed to `len` or the like, which would fail for an
        iterator.
        """
        if not isinstance(source, (ast.Name, ast.Attribute)):
            return False
        name = source.id if isinstance(source, ast.Name) else source.attr
        others = self._shown_in(name).get(function, ())
        return any(_reads_same(source, other) and self._always_with(other, place) for other in others)

    def _shown_in(self, name: str) -> dict[Function | None, list[ast.Name | ast.Attribute]]:
        """Return the expressions with a last name that cannot be iterators at their place, by enclosing
        function.
        """
        found = self._shown.get(name)
        if found is None:
            found = self._shown[name] = {}
            tree = self.analysis.syntax
            for value in (*tree.variables.named(name), *tree.written.attributes.get(name, ())):
                if self._shows(value):
                    found.setdefault(tree.function(value), []).append(value)
        return found

    def _shows(self, value: ast.AST) -> bool:
        match self.analysis.syntax.parents.get(value):
            case ast.Subscript(value=owner):
                return owner is value
            case ast.Attribute(attr=name, ctx=ast.Load()):
                return name not in _OF_ITERATORS
            case ast.Call(func=func, args=[only]) if only is value:
                return self.analysis.names.qualified(func) in _AGAIN
            case ast.BinOp() | ast.UnaryOp(op=ast.USub()):
                return True
            case ast.Compare(ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]):
                return True
        return False

    def _always_with(self, shown: ast.AST, place: ast.AST) -> bool:
        """Whether one node is evaluated whenever the other is."""
        tree, flow = self.analysis.syntax, self.analysis.definitions
        here, there = tree.statement(shown), tree.statement(place)
        if not self._order.always_within(shown, here):
            return False
        if here is there or flow.between(shown, place) is not None:
            return True
        between = flow.between(place, shown)
        return between is not None and not any(
            isinstance(node, _LEAVES) for part in between for node in descendants(part)
        )


def _is_collected(binding: Binding) -> bool:
    """Whether a parameter collects arguments: `*rewards` is a tuple, `**options` a dict."""
    arguments = getattr(binding.statement, "args", None)
    return isinstance(arguments, ast.arguments) and binding.node in (arguments.vararg, arguments.kwarg)


def _reads_same(one: ast.expr, other: ast.expr) -> bool:
    if isinstance(one, ast.Attribute) and isinstance(other, ast.Attribute):
        return one.attr == other.attr and _reads_same(one.value, other.value)
    return isinstance(one, ast.Name) and isinstance(other, ast.Name) and one.id == other.id


class IteratorConsumers:
    """The functions of a project that consume iterators they are passed."""

    def __init__(self, index: ProjectIndex) -> None:
        self.index = index
        self._known: dict[str, frozenset[str]] = {}

    def parameters(self, function: FunctionSummary) -> frozenset[str]:
        """Return the parameters that a function, or a function that it calls, consumes and that may be
        iterators; "" is included if it consumes another value that may be one.
        """
        known = self._known.get(function.path)
        if known is None:
            self._known[function.path] = frozenset()  # the other calls add what a recursive call would add
            known = self._known[function.path] = frozenset(self._parameters(function))
        return known

    def iterates_over(self, function: FunctionSummary, argument: str) -> bool:
        """Whether a function iterates over an argument at a position or keyword."""
        name = function.parameter_at(argument)
        return bool(name) and name in self.parameters(function)

    def _parameters(self, function: FunctionSummary) -> Iterator[str]:
        for through in () if function.remembers else function.through:
            kind = self._settled(through.kind, function)
            if not draws_on_iteration(kind):
                known = kind.tag not in (TypeTag.UNKNOWN, TypeTag.ITERATOR, TypeTag.FILE)
                if through.again or (known and not through.parameter):
                    continue
            if not through.path:
                yield through.parameter
                continue
            for target in self.index.callables(through.path, function.module):
                if self.iterates_over(target, through.argument):
                    yield through.parameter
        for path, _ in function.effect_paths:
            for target in self.index.callables(path, function.module):
                if "" in self.parameters(target):
                    yield ""

    def _settled(self, kind: Type, function: FunctionSummary) -> Type:
        if kind.tag is TypeTag.UNKNOWN and kind.of:
            return self.index.resolve(kind.of, function.module)
        return kind or UNKNOWN
