"""Forward value flow: one walk from an expression to all uses of its value, through variables and
containers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, Generic, Protocol, TypeVar

from rlint import models
from rlint.enums import Enum
from rlint.frozen import frozen
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.dataflow.def_use import is_captured
from rlint.semantics.file_analysis import FileAnalysis
from rlint.syntax.assignments import targets_of
from rlint.syntax.scopes import Binding, BindingKind, Scope
from rlint.syntax.syntax_index import Function
from rlint.syntax.value_use import SyntacticUse, UseKind, use_of

MOST_USES = 400
"""Maximum number of places examined for one value."""
_MOST_READS = 10 * MOST_USES  # the bindings from which each place was reached
_DEEPEST = 4  # nested calls into which a value is followed
_MAKES_TENSOR = models.having(Trait.FILLS, TypeTag.TENSOR) & models.having(Trait.DETACHES, TypeTag.TENSOR)
"""Methods that create a tensor like another one: `values.new_zeros(3)`."""
_CONTAINERS = (TypeTag.LIST, TypeTag.DEQUE, TypeTag.SET, TypeTag.DICT)

Label = TypeVar("Label")


class Cause(Enum):
    """Reason why a value is not followed any further."""

    TOO_MANY = "it is used in too many places"
    CAPTURED = "a nested function reads it, and it is not known when that is called"
    CLASS_BODY = "it is stored as a class attribute"
    OBJECT = "it is stored in an object or in a container that other code may read"
    DYNAMIC = "values are not tracked through the expression around it"
    CALLERS = "the callers of the function that returns it are not known"
    OTHER_PLACE = "code in another file uses it"
    TOO_DEEP = "it is passed through too many functions"


@frozen
class Sink(Generic[Label]):
    """A place where the walk of a value ends, with its meaning for the client."""

    node: ast.AST
    label: Label


class TupleItem(int):
    """The position of a value in a tuple that contains other values as well."""


@frozen
class Onward:
    """The expressions at which a value continues after it has left its function. They are complete if no
    other code does what `assumes` says ("" if nothing is assumed). A `cause` says why others may be missing.

    If only calls in other files are missing, `in_other_files` contains for each of them the items of the
    result whose gradient ends in the caller, with -1 if all do.
    """

    nodes: tuple[ast.expr, ...] = ()
    assumes: str = ""
    cause: Cause | None = None
    in_other_files: tuple[tuple[int, ...], ...] = ()

    def ends_in_other_files(self, part: int | None) -> bool:
        """Whether the gradient of an item of the result ends in all callers in other files, and that of other
        items does not. Where all items end, the caller is the place to disable autograd.
        """
        return any(-1 not in ended for ended in self.in_other_files) and all(
            -1 in ended or part in ended for ended in self.in_other_files
        )


class Beyond(Protocol):
    """Resolves where values continue after they leave a function."""

    def returned_to(self, function: Function) -> Onward:
        """Return the calls that receive the results of a function."""

    def read_from(self, attribute: ast.Attribute) -> Onward:
        """Return the places that read an attribute after it is set, or that read its current value."""


class ValueFlow(Generic[Label]):
    """Follows a value forwards through assignments, unpacking, containers, loops and comprehensions and, if
    `beyond` is given, out of the function: to its callers, and to the reads of attributes.

    The client determines what a use means: `sinks` contains the kinds of uses that end the walk, with their
    labels; other kinds are followed to the enclosing expression by the method of a subclass with the name of
    the kind (`attribute`, `method`, `item`, `element`, `operand`, `argument`, `called`). If the walk gives
    up, `given_up` has the label of the cause, so that "unknown" is an answer, too.

    `part` is the one item of a tuple that carries the value (`values, indices = x.max(1)`). A value that a
    subclass follows into a function (`enter`) comes back at the call through which it entered.
    """

    through_containers: ClassVar = True
    """Whether a value that is put into a local container is followed to the uses of the container."""

    def __init__(
        self,
        analysis: FileAnalysis,
        sinks: Mapping[UseKind, Label],
        given_up: Mapping[Cause, Label],
        beyond: Beyond | None = None,
    ) -> None:
        self._sinks = sinks
        self._given_up = given_up
        self.analysis = analysis
        self.syntax = analysis.syntax
        self._found: list[Sink[Label]] = []
        self.beyond = beyond
        self.assumed: dict[str, None] = {}
        """What no other code may do for the sinks to be complete: "calls `f`"."""
        self.lost: dict[Cause, None] = {}
        self._pending: list[tuple[ast.AST, int | None, tuple[ast.Call, ...]]] = []
        self._inside: tuple[ast.Call, ...] = ()  # the calls by which the functions were entered
        self._seen: set[object] = set()
        self._reads = 0

    # -- the walk ------------------------------------------------------------------------------

    def of(self, expression: ast.AST) -> Iterator[Sink[Label]]:
        """Walk from the value of an expression; yield sinks as they are found."""
        self.follow(expression)
        return self._walk()

    def of_binding(self, binding: Binding, scope: Scope) -> Iterator[Sink[Label]]:
        """Walk from the value that a binding assigns to its variable."""
        self.follow_variable(binding, scope)
        return self._walk()

    def _walk(self) -> Iterator[Sink[Label]]:
        yield from self._new_ones()
        while self._pending:
            node, part, self._inside = step = self._pending.pop()
            if step in self._seen:
                continue
            self._seen.add(step)
            if len(self._seen) > MOST_USES:
                self._pending.clear()
                self.give_up(node, Cause.TOO_MANY)
            else:
                self._use(use_of(node, self.syntax.parents, part))
            yield from self._new_ones()

    def _new_ones(self) -> list[Sink[Label]]:
        found, self._found = self._found, []
        return found

    def _use(self, use: SyntacticUse) -> None:
        if use.kind is UseKind.ELEMENT and (targets := targets_of(use.node, self.syntax.parents)):
            for target in targets:  # `a, b = value, other`
                self.follow_target(target, use.part, use.at)
            return
        if use.kind is UseKind.RETURNED and self.beyond is not None:
            self.leave(use, self.beyond)
            return
        label = self._sinks.get(use.kind)
        if label is not None:
            self.reach(self.place(use), label)
        else:
            _STEPS[use.kind](self, use)

    # -- methods that subclasses override -------------------------------------------------------------------

    def place(self, use: SyntacticUse) -> ast.AST:
        """Return the node to report for a sink of the table."""
        tested = use.kind is UseKind.TESTED and not isinstance(use.at, ast.UnaryOp)
        return use.node if tested or use.kind is UseKind.INDEX else use.at

    def attribute(self, use: SyntacticUse) -> None:
        """Follow `value.name`."""
        self.follow(use.at)

    def method(self, use: SyntacticUse) -> None:
        """Follow the result of `value.method()`."""
        self.follow(use.at)

    def item(self, use: SyntacticUse) -> None:
        """Follow `value[i]`."""
        self.follow(use.at)

    def element(self, use: SyntacticUse) -> None:
        """Follow the collection: `[value]`, `(value, x)`, `*value`."""
        self.follow(use.at)

    def operand(self, use: SyntacticUse) -> None:
        """Follow the result of `value + x`."""
        self.follow(use.at)

    def argument(self, use: SyntacticUse) -> None:
        """Follow the result of `f(value)`."""
        self.follow(use.at)

    def called(self, use: SyntacticUse) -> None:
        """Follow the result of `value(x)`."""
        self.follow(use.at)

    def result(self, call: ast.expr, part: int | None) -> None:
        """Follow the result of a call that returns the value."""
        self.follow(call, part)

    def readers(self, binding: Binding, scope: Scope) -> list[ast.Name]:
        """Return the uses of a variable that may read a binding."""
        return self.analysis.readers(binding, scope)

    # -- methods that subclasses call ------------------------------------------------------------------

    def follow(self, node: ast.AST, part: int | None = None) -> None:
        """Follow the value of a node."""
        self._pending.append((node, part, self._inside))

    def enter(self, call: ast.Call, function: Function, parameter: str) -> None:
        """Follow a value into a function that a call passes it to."""
        inside = self._inside
        if call in inside:  # a recursive call adds nothing new
            self._inside = inside[: inside.index(call) + 1]
        elif len(inside) >= _DEEPEST:
            self.give_up(call, Cause.TOO_DEEP)
            return
        else:
            self._inside = (*inside, call)
        scope = self.syntax.scopes[function]
        binding = next(b for b in scope.bindings[parameter] if b.kind is BindingKind.PARAMETER)
        self.follow_variable(binding, scope)
        self._inside = inside

    def reach(self, node: ast.AST, label: Label) -> None:
        """Record a sink."""
        self._found.append(Sink(node, label))

    def give_up(self, node: ast.AST, cause: Cause) -> None:
        """Record that the value can no longer be followed."""
        self.lost[cause] = None
        label = self._given_up.get(cause)
        if label is not None:
            self.reach(node, label)

    def follow_target(self, target: ast.expr, part: int | None, statement: ast.AST) -> None:
        """Follow the target that is bound to the value (or, item by item, to its items)."""
        match target:
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for index, element in enumerate(elements):
                    if part is None or index == part or isinstance(element, ast.Starred):
                        self.follow_target(element, None, statement)
                    else:
                        self.other_part(element, part)
            case ast.Starred(value=value):
                self.follow_target(value, None, statement)
            case ast.Name():
                scope = self.syntax.scope(target).lookup(target.id)
                binding = self.syntax.variables.bound_at(target)
                if scope is None or binding is None:
                    self.give_up(target, Cause.DYNAMIC)
                else:
                    self.follow_variable(binding, scope, part)
            case ast.Subscript(value=ast.Name() | ast.Attribute() as container):
                self.follow_container(container, target)
            case ast.Attribute() if self.beyond is not None:
                self._store(target, self.beyond)
            case _:
                self.give_up(target, Cause.OBJECT)

    def other_part(self, element: ast.expr, part: int) -> None:
        """Handle a target that receives another item of the tuple than the one that carries the value."""

    def follow_container(self, container: ast.expr, node: ast.expr) -> None:
        """Follow a local container into which the value is put: `values.append(v)`, `values[i] = v`."""
        tag = self.analysis.types.type_of(container).tag if self.through_containers else None
        known = tag in _CONTAINERS or (
            tag in (TypeTag.TENSOR, TypeTag.UNKNOWN) and self._is_own_tensor(container, tag)
        )
        if known and isinstance(container, ast.Name):
            scope = self.syntax.scope(container).lookup(container.id)
            bindings = self.analysis.definitions.reaching(container)
            here = scope is not None and not is_captured(container, scope, self.syntax)
            if scope is not None and here and all(b.kind is BindingKind.ASSIGN for b in bindings):
                for binding in bindings:
                    self.follow_variable(binding, scope)
                return
        if known and isinstance(container, ast.Attribute) and self.beyond is not None:
            self._store(container, self.beyond)
        else:
            self.give_up(node, Cause.OBJECT)

    def _is_own_tensor(self, container: ast.expr, tag: TypeTag) -> bool:
        """Whether a container is a tensor that only a local variable holds; if values are followed out of the
        function, other holders are examined.
        """
        if self.beyond is not None and tag is TypeTag.TENSOR:
            return True
        if not isinstance(container, ast.Name):
            return False
        made = [one.value if not one.path else None for one in self.analysis.definitions.reaching(container)]
        return bool(made) and all(value is not None and self._is_new_tensor(value) for value in made)

    def _is_new_tensor(self, value: ast.expr) -> bool:
        match value:
            case ast.Call(func=ast.Attribute(attr=method)) if method in _MAKES_TENSOR:
                return True
        kind = self.analysis.types.type_of(value)
        return kind.tag is TypeTag.TENSOR and kind.fresh

    def follow_variable(self, binding: Binding, scope: Scope, part: int | None = None) -> None:
        """Follow all places that may read a binding of a variable."""
        if (binding, part, self._inside) in self._seen:
            return
        self._seen.add((binding, part, self._inside))
        if scope.is_class:
            self.give_up(binding.node, Cause.CLASS_BODY)
            return
        readers = self.readers(binding, scope)
        self._reads += len(readers)
        if self._reads > _MOST_READS:
            self._pending.clear()
            self.give_up(binding.node, Cause.TOO_MANY)
            return
        for read in readers:
            if not isinstance(read.ctx, ast.Load):
                self.follow(read)  # of `x += y`
            elif is_captured(read, scope, self.syntax):
                self.give_up(read, Cause.CAPTURED)
            else:
                self.follow(read, part)

    # -- out of the function -------------------------------------------------------------------

    def leave(self, use: SyntacticUse, beyond: Beyond) -> None:
        """Follow a returned value, at the calls that receive it."""
        function = self.syntax.function(use.at)
        if self._inside:
            call, self._inside = self._inside[-1], self._inside[:-1]
            self.result(call, use.part)
        elif function is None:
            self.give_up(use.at, Cause.DYNAMIC)
        else:
            onward = beyond.returned_to(function)
            if self.may_continue(use.at, onward):
                for each in onward.nodes:
                    self.result(each, use.part)

    def _store(self, attribute: ast.Attribute, beyond: Beyond) -> None:
        onward = beyond.read_from(attribute)
        if self.may_continue(attribute, onward):
            inside, self._inside = self._inside, ()  # the callers of the reader
            for read in onward.nodes:
                self.follow(read)
            self._inside = inside

    def may_continue(self, node: ast.AST, onward: Onward) -> bool:
        """Whether to follow a value to these expressions; by default, only if they are complete."""
        if onward.cause is not None:
            self.give_up(node, onward.cause)
            return False
        if onward.assumes:
            self.assumed[onward.assumes] = None
        return True

    # -- a step for each kind of use -----------------------------------------------------------

    def _same(self, use: SyntacticUse) -> None:
        self.follow(use.at, use.part)

    def _bound(self, use: SyntacticUse) -> None:
        statement = use.at
        targets = statement.targets if isinstance(statement, ast.Assign) else [_target(statement)]
        for target in targets:
            self.follow_target(target, use.part, statement)

    def _bound_and_same(self, use: SyntacticUse) -> None:
        self._bound(use)
        self.follow(use.at, use.part)

    def _iterated(self, use: SyntacticUse) -> None:
        loop = use.at
        around = self.syntax.parents[loop] if isinstance(loop, ast.comprehension) else loop
        self.follow_target(_target(loop), None, around)

    def _augmenting(self, use: SyntacticUse) -> None:
        self.follow_target(_target(use.at), None, use.at)

    def _nothing(self, use: SyntacticUse) -> None:
        """Do not follow the value: it is discarded."""

    def _lost(self, use: SyntacticUse) -> None:
        self.give_up(use.at, Cause.DYNAMIC)


def _target(node: ast.AST) -> ast.expr:
    target: ast.expr = node.target  # type: ignore[attr-defined]  # of what binds one
    return target


_STEPS: dict[UseKind, Callable[..., None]] = {
    UseKind.SAME: ValueFlow._same,
    UseKind.BOUND: ValueFlow._bound,
    UseKind.BOUND_AND_SAME: ValueFlow._bound_and_same,
    UseKind.ITERATED: ValueFlow._iterated,
    UseKind.ELEMENT: lambda flow, use: flow.element(use),
    UseKind.OPERAND: lambda flow, use: flow.operand(use),
    UseKind.ADDED: ValueFlow._augmenting,
    UseKind.AUGMENTED: ValueFlow._augmenting,
    UseKind.ATTRIBUTE: lambda flow, use: flow.attribute(use),
    UseKind.METHOD: lambda flow, use: flow.method(use),
    UseKind.ITEM: lambda flow, use: flow.item(use),
    UseKind.INDEX: ValueFlow._lost,
    UseKind.ARGUMENT: lambda flow, use: flow.argument(use),
    UseKind.CALLED: lambda flow, use: flow.called(use),
    UseKind.COMPARED: ValueFlow._nothing,
    UseKind.TESTED: ValueFlow._nothing,
    UseKind.SHOWN: ValueFlow._nothing,
    UseKind.RETURNED: ValueFlow._lost,
    UseKind.DISCARDED: ValueFlow._nothing,
    UseKind.OTHER: ValueFlow._lost,
}
