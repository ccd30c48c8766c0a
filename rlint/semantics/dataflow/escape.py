"""Escape analysis: whether a value is only read, kept by other code, or modified in place."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cached_property

from rlint import models
from rlint.enums import IntEnum
from rlint.frozen import frozen
from rlint.models import vocabulary
from rlint.models.effect import EffectKind
from rlint.models.trait import Trait
from rlint.models.value_type import UNKNOWN, Type, TypeTag
from rlint.semantics.dataflow.value_flow import Beyond, Cause, Sink, ValueFlow
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.types.algebra import is_immutable
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import argument_count
from rlint.syntax.scopes import Binding, Scope
from rlint.syntax.syntax_index import FUNCTIONS
from rlint.syntax.value_use import SyntacticUse, UseKind

_CHANGES = models.mutators(TypeTag.LIST, TypeTag.DICT, TypeTag.SET, TypeTag.DEQUE, TypeTag.NDARRAY) - {
    "add"
}  # attributes of a tensor that give another tensor
_STORES = vocabulary.STORES - {"save"} | models.having(
    Trait.INSERTS, TypeTag.LIST, TypeTag.DICT, TypeTag.SET, TypeTag.DEQUE, TypeTag.QUEUE
)
_CONTAINERS = frozenset({TypeTag.LIST, TypeTag.DEQUE, TypeTag.SET, TypeTag.DICT})
_NESTED = _CONTAINERS | {TypeTag.TUPLE, TypeTag.ITERATOR}
_PUTS = _STORES | {"extend", "extendleft", "update"}
_PLAIN = frozenset({TypeTag.BOOL, TypeTag.INT, TypeTag.FLOAT, TypeTag.STR, TypeTag.BYTES, TypeTag.NONE})


class EscapeLevel(IntEnum):
    """Ordered: the fate of a value is the worst of all its uses."""

    READ = 0
    """Only read, and not held by any code afterwards."""
    HANDED = 1
    """Passed to a call that may keep or modify it."""
    KEPT = 2
    """Stored or returned."""
    CHANGED = 3
    """Surely modified in place."""


@frozen
class ValueUse:
    """The escape level of a value, whether it is an input of further computation (which a gradient would
    retrace), and whether a variable holds it temporarily.
    """

    escape_level: EscapeLevel
    computes: bool = False
    held: bool = False

    def worst(self, other: ValueUse) -> ValueUse:
        """Return the fate of a value with both of these uses."""
        return ValueUse(
            max(self.escape_level, other.escape_level),
            self.computes or other.computes,
            held=self.held or other.held,
        )


_HANDS_ON = (
    models.having(
        Trait.HOLDS,
        "builtins",
        "argparse",
        "contextlib",
        "functools",
        "types",
        "weakref",
        "torch.utils.data",
    )
    | models.giving(TypeTag.ITERATOR, "builtins", "itertools", "tqdm")
    | models.giving(TypeTag.DICT, "collections")
    | models.giving(TypeTag.DEQUE, "collections")
)
"""Calls that return an object which holds their argument, its items, or views of its rows."""
_HOLDS_TENSORS = models.names_having(Trait.PARAMETERS, "torch.nn")
_LOOKED_AT = ValueUse(EscapeLevel.READ)
_COMPUTED = ValueUse(EscapeLevel.READ, computes=True)
_HANDED = ValueUse(EscapeLevel.HANDED, computes=True)
_KEPT = ValueUse(EscapeLevel.KEPT, computes=True)
_CHANGED = ValueUse(EscapeLevel.CHANGED, computes=True)
_HELD = ValueUse(EscapeLevel.READ, held=True)


_SINKS = {
    UseKind.ADDED: _COMPUTED,
    UseKind.INDEX: _COMPUTED,
    UseKind.AUGMENTED: _CHANGED,
    UseKind.COMPARED: _LOOKED_AT,
    UseKind.TESTED: _LOOKED_AT,
    UseKind.SHOWN: _LOOKED_AT,
    UseKind.DISCARDED: _LOOKED_AT,
    UseKind.RETURNED: _KEPT,
    UseKind.CALLED: _KEPT,
    UseKind.OTHER: _KEPT,
}
_GIVEN_UP = dict.fromkeys(Cause, _KEPT)


class EscapeAnalysis:
    """Answers how the values of one file are used."""

    def __init__(self, analysis: FileAnalysis, beyond: Callable[[], Beyond]) -> None:
        self.analysis = analysis
        self._beyond = beyond

    def of(self, node: ast.AST) -> ValueUse:
        """Return how the value of an expression is used, including through variables bound to it."""
        return _Escape(self.analysis, self._beyond()).worst(node)


class _Escape(ValueFlow[ValueUse]):
    """One walk over the uses of one value. A value that is returned or stored in an attribute is at least
    KEPT; its uses by callers and readers are included if they are known. New values computed from it are
    followed by a second walk, `results`: code that keeps or modifies those does not keep or modify the value
    itself.
    """

    through_containers = False

    def __init__(
        self, analysis: FileAnalysis, beyond: Beyond | None = None, *, of_results: bool = False
    ) -> None:
        super().__init__(analysis, _SINKS, _GIVEN_UP, beyond)
        self._of_results = of_results

    def worst(self, node: ast.AST) -> ValueUse:
        """Return the worst fate among all uses of a value."""
        found = _LOOKED_AT
        for sink in self.of(node):
            found = found.worst(sink.label)
        if "_results" in vars(self):
            for sink in self._results.rest():
                found = found.worst(sink.label)
        return found

    @cached_property
    def _results(self) -> _Escape:
        return self if self._of_results else _Escape(self.analysis, of_results=True)

    def reach(self, node: ast.AST, label: ValueUse) -> None:
        """Record a sink; for new values computed from the value, record only that they are results and are
        held.
        """
        super().reach(
            node, ValueUse(EscapeLevel.READ, label.computes, held=label.held) if self._of_results else label
        )

    def attribute(self, use: SyntacticUse) -> None:
        """Record that the attribute is set, or follow the attribute's value."""
        assert isinstance(use.at, ast.Attribute)
        if isinstance(use.at.ctx, ast.Load):
            self._follow_derived(use.at)
        else:
            self.reach(use.at, _CHANGED)

    def item(self, use: SyntacticUse) -> None:
        """Record that the item is set, or follow the item."""
        assert isinstance(use.at, ast.Subscript)
        if isinstance(use.at.ctx, ast.Load):
            self._follow_derived(use.at)
        else:
            self.reach(use.at, _CHANGED)

    def method(self, use: SyntacticUse) -> None:
        """Record what the method does to its object, and follow its result."""
        call = use.at
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Attribute)
        name = call.func.attr
        owner = self.analysis.types.type_of(call.func.value)
        known = models.method_fact(owner.tag, name, argument_count(call)) if owner else None
        if known is not None and known.effect.acts:
            self.reach(call, _CHANGED if known.effect.kind & EffectKind.MUTATES else _KEPT)
        elif known is not None:
            self._follow_derived(call)
        elif name in _CHANGES or models.is_in_place(name):
            self.reach(call, _CHANGED)
        elif self.analysis.effects.call_effect(call).quiet:
            self._follow_derived(call)
        else:
            self.reach(call, _KEPT)

    def element(self, use: SyntacticUse) -> None:
        """Follow the collection; `items += [value]` keeps the value."""
        around = self.syntax.parents[use.at]
        joined = isinstance(around, (ast.BinOp, ast.AugAssign)) and isinstance(around.op, ast.Add)
        if joined and isinstance(use.at, ast.List):
            self.reach(use.at, _KEPT)
        else:
            self.follow(use.at)

    def operand(self, use: SyntacticUse) -> None:
        """Record that a value is computed with; a joined or repeated list holds the same items."""
        self.reach(use.at, _COMPUTED)
        assert isinstance(use.at, ast.expr)
        if self.analysis.types.type_of(use.at).tag in (TypeTag.LIST, TypeTag.TUPLE):
            self.follow(use.at)

    def argument(self, use: SyntacticUse) -> None:
        """Record what the call does to the argument, and follow the result."""
        call = use.at
        assert isinstance(call, ast.Call)
        qualified = self.analysis.names.qualified(call.func)
        written = isinstance(use.node, ast.keyword) and use.node.arg in models.MUTATING_KEYWORDS
        if written or qualified in models.INPLACE_FUNCTIONS:
            self.reach(call, _CHANGED)
            return
        if qualified in _HANDS_ON:
            self.follow(call)
            return
        effect = self.analysis.effects.effect_outside(call)
        if effect.quiet and self._is_updated_by_result(call):
            self.reach(call, _KEPT)
        elif effect.quiet and self._is_put(call):
            self.reach(call, _KEPT)  # by a container created here: no other code observes the change
        elif effect.quiet:
            self._follow_derived(call)
        elif effect.does_only(EffectKind.WRITES_OUTPUT):
            self.reach(call, _LOOKED_AT)
        else:
            stores = isinstance(call.func, ast.Attribute) and call.func.attr in _STORES
            self.reach(call, _KEPT if stores else _HANDED)

    def follow_target(self, target: ast.expr, part: int | None, statement: ast.AST) -> None:
        """Follow the target of a binding; immutable values need not be followed, except for functions that
        hold an argument (`partial`).
        """
        if isinstance(target, ast.Attribute):
            self.reach(target, _KEPT)
        kind = self._bound_type(target) if isinstance(target, ast.Name) else UNKNOWN
        if isinstance(target, ast.Name) and is_immutable(kind) and kind.tag is not TypeTag.FUNCTION:
            self.reach(target, _COMPUTED if self._is_local(target) else _KEPT)
        else:
            super().follow_target(target, part, statement)

    def follow_variable(self, binding: Binding, scope: Scope, part: int | None = None) -> None:
        """Follow the reads of a local variable, which holds the value temporarily."""
        if not _is_of_function(scope):
            self.reach(binding.node, _KEPT)
            return
        self.reach(binding.node, _HELD)
        super().follow_variable(binding, scope, part)

    def leave(self, use: SyntacticUse, beyond: Beyond) -> None:
        """Follow a returned value, which is KEPT."""
        self.reach(use.at, _KEPT)
        super().leave(use, beyond)

    def rest(self) -> Iterator[Sink[ValueUse]]:
        """Yield the sinks that other walks have to follow."""
        return self._walk()

    def _follow_derived(self, part: ast.AST) -> None:
        """Follow a value derived from the value: it may be a part or a view of it."""
        assert isinstance(part, ast.expr)
        kind = self.analysis.types.type_of(part)
        if is_immutable(kind):
            self.reach(part, _LOOKED_AT if kind.tag in _PLAIN else _COMPUTED)
        elif kind.fresh and not _may_hold_parts(kind):
            self._results.follow(part)
        else:
            self.follow(part)

    def _bound_type(self, target: ast.Name) -> Type:
        """Return the type of the value that a target receives, whatever its variable held before."""
        binding = self.syntax.variables.bound_at(target)
        return self.analysis.types.binding_kind(binding) if binding is not None else UNKNOWN

    def _is_local(self, name: ast.Name) -> bool:
        scope = self.syntax.scope(name).lookup(name.id)
        return scope is not None and _is_of_function(scope)

    def _is_updated_by_result(self, call: ast.Call) -> bool:
        """Whether a call creates an optimizer, or a module of existing tensors (`nn.ParameterList([scale])`):
        both may write to their arguments later.
        """
        kind = self.analysis.types.type_of(call)
        if kind.tag is TypeTag.OPTIMIZER:
            return True
        name = last_name(call.func)
        return kind.tag is TypeTag.MODULE and name in _HOLDS_TENSORS

    def _is_put(self, call: ast.Call) -> bool:
        """Whether an expression is `items.append(value)`."""
        match call.func:
            case ast.Attribute(value=owner, attr=method) if method in _PUTS:
                return self.analysis.types.type_of(owner).tag in _CONTAINERS
        return False


def _may_hold_parts(kind: Type) -> bool:
    """Whether a new container may hold what it was made of: views of an array (`np.split(rows, 2)`), or the
    items of another container, also in tuples of its own (`list(zip(rows, rows))`).
    """
    if kind.tag not in _NESTED:
        return False
    items = kind.parts or (UNKNOWN if kind.item is None else kind.item,)
    return any(not is_immutable(item) and (not item.fresh or _may_hold_parts(item)) for item in items)


def _is_of_function(scope: Scope) -> bool:
    return scope.is_comprehension or isinstance(scope.node, FUNCTIONS)
