"""Gradient flow: sinks of the gradient of a network's output, and sources of the gradient of a value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from typing import Protocol

from rlint import models
from rlint.frozen import frozen
from rlint.models import gradient_rules as facts
from rlint.models.value_type import Type, TypeTag
from rlint.semantics.dataflow.value_flow import Beyond, Cause, Sink
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.interprocedural.call_targets import parameter_of
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary
from rlint.semantics.nn.autograd import LocalAutograd
from rlint.semantics.nn.gradient_sinks import ENDS, GradientTrace, Lets, SinkKind
from rlint.semantics.nn.gradient_sources import GradientOrigins, GradientSources
from rlint.semantics.nn.loaded_networks import runs_loaded
from rlint.semantics.nn.methods_by_name import (
    computes,
    computes_by_name,
    is_held_by_other_classes,
    runs_forward,
)
from rlint.syntax.scopes import Binding, BindingKind, Scope
from rlint.syntax.syntax_index import Function

ITEM = "[]"
"""Stands for the argument where a value is stored as an item of the container at an access path."""


@frozen
class TracedGradient:
    """All sinks of a gradient in the visible program: `sinks`, complete if no other code does what is
    `assumed`; `lost` says why it was not followed further.
    """

    sinks: tuple[Sink[SinkKind], ...]
    assumed: tuple[str, ...] = ()
    lost: tuple[Cause, ...] = ()

    @property
    def assumption(self) -> str:
        """Return what must hold for the sinks to be complete, as a clause; "" if they are."""
        return f"no other code {' or '.join(self.assumed)}" if self.assumed else ""

    @property
    def labels(self) -> frozenset[SinkKind]:
        """Return the kinds of sinks, without their places."""
        return frozenset(sink.label for sink in self.sinks)


class Project(Protocol):
    """What the gradients of one file query about the rest of the project."""

    def callables(self, path: str, module: str) -> list[FunctionSummary]:
        """Return the functions that calling an access path may run."""

    def resolve(self, path: str, module: str) -> Type:
        """Return the type of the value at an access path."""

    def class_of(self, kind: Type) -> ClassSummary | None:
        """Return the class of the project for a type."""

    def method(self, cls: ClassSummary, name: str) -> FunctionSummary | None:
        """Return the method that a class has or inherits."""

    def ancestry(self, cls: ClassSummary) -> tuple[ClassSummary | str, ...]:
        """Return the class and its bases; those outside the project as dotted names."""

    def network_methods(self, name: str) -> list[FunctionSummary]:
        """Return the methods of this name that networks of the project define."""

    def holds_networks(self, name: str, *, in_networks: bool) -> bool:
        """Whether objects, or only networks, always hold networks in attributes of this name."""

    def holds_only_networks(self, name: str) -> bool:
        """Whether attributes of this name hold networks wherever their type is known."""


class GradientFlow:
    """The flow of gradients in one file. Without a project, calls into other files may do anything."""

    def __init__(self, analysis: FileAnalysis, here: LocalAutograd, project: Project | None = None) -> None:
        self.analysis = analysis
        self.syntax = analysis.syntax
        self.here = here
        self.project = project
        self._put_into: dict[tuple[str, Scope | None], list[ast.expr]] = {}
        self._parameters: dict[tuple[Function, str], tuple[Sink[SinkKind], ...]] = {}
        self._sources: dict[ast.expr, GradientSources] = {}

    # -- forwards: the sinks of a value -----------------------------------------------------

    def outlets(self, expression: ast.expr) -> tuple[Sink[SinkKind], ...]:
        """Return all sinks of the gradient that an expression's value carries."""
        return tuple(dict.fromkeys(self.each_outlet(expression)))

    def ends(self, expression: ast.expr) -> tuple[Sink[SinkKind], ...]:
        """Return the same if no gradient leaves the function; empty as soon as a sink is found through which
        it does.
        """
        found: dict[Sink[SinkKind], None] = {}
        for left in self.each_outlet(expression):
            if left.label not in ENDS:
                return ()
            found[left] = None
        return tuple(found)

    def each_outlet(self, expression: ast.expr) -> Iterator[Sink[SinkKind]]:
        """Yield the same as the walk finds them: for clients that need only the first."""
        return GradientTrace(self).of(expression)

    def traced(
        self, expression: ast.expr, beyond: Beyond, is_off: Callable[[ast.AST], bool]
    ) -> TracedGradient:
        """Return the same, also following the value out of the function: to callers, readers of attributes,
        and the functions that it is passed to. For a name, follow the value of the variable from there on.
        `is_off` determines whether no caller has autograd on.
        """
        trace = GradientTrace(self, beyond, is_off)
        if isinstance(expression, ast.Name):
            scope, bindings = self._bound(expression)
            if scope is None:
                return TracedGradient((Sink(expression, SinkKind.HANDED),))
            found = {sink: None for each in bindings for sink in trace.of_binding(each, scope)}
        else:
            found = dict.fromkeys(trace.of(expression))
        return TracedGradient(tuple(found), tuple(trace.assumed), tuple(trace.lost))

    def variable_outlets(self, name: ast.Name) -> tuple[Sink[SinkKind], ...]:
        """Return the sinks of the gradient that a variable carries, from a binding or read on."""
        scope, bindings = self._bound(name)
        if scope is None:
            return (Sink(name, SinkKind.HANDED),)
        found: dict[Sink[SinkKind], None] = {}
        for binding in bindings:
            found.update(dict.fromkeys(GradientTrace(self).of_binding(binding, scope)))
        return tuple(found)

    def _bound(self, name: ast.Name) -> tuple[Scope | None, list[Binding]]:
        """Return the scope of a variable, and the bindings that a name makes or reads."""
        scope = self.syntax.scope(name).lookup(name.id)
        if scope is None or isinstance(name.ctx, ast.Load):
            return scope, self.analysis.definitions.reaching(name) if scope is not None else []
        return scope, [binding for binding in scope.bindings[name.id] if binding.node is name]

    def parameter_outlets(self, function: Function, parameter: str) -> tuple[Sink[SinkKind], ...]:
        """Return what a function does with the gradient of an argument."""
        known = self._parameters.get((function, parameter))
        if known is None:
            self._parameters[function, parameter] = ()  # a recursive call adds nothing new
            known = tuple(dict.fromkeys(self._of_parameter(function, parameter)))
            self._parameters[function, parameter] = known
        return known

    def ends_in_function(self, call: ast.Call, argument: ast.AST) -> bool:
        """Whether no gradient of an argument leaves the functions of the project that a call may run."""
        targets = self.handed_to(call, argument)
        return bool(targets) and all(self._ends_in(*each) for each in targets or ())

    def _ends_in(self, target: FunctionSummary, parameter: str) -> bool:
        function = self.analysis.definition(target)
        if function is None:
            return self.becomes_of(target, parameter) is Lets.END
        labels = {left.label for left in self.parameter_outlets(function, parameter)}
        return bool(labels) and labels <= ENDS

    def becomes_of(self, target: FunctionSummary, parameter: str, depth: int = 4) -> Lets:
        """Return what a function of another file does with the gradient of an argument."""
        if parameter in target.releases:
            return Lets.END
        if target.name == "forward" and self._is_forward(target):
            return Lets.THROUGH  # as for `net(x)`
        if parameter not in target.carries or self.project is None or depth <= 0:
            return Lets.ESCAPE
        found = Lets.END if parameter in target.only_passed_on else Lets.THROUGH
        for passes_on, path, argument in target.passed_gradients:
            if passes_on != parameter:
                continue
            if argument == ITEM:
                if not self._is_array(path, target.module):
                    return Lets.ESCAPE
                continue
            callees = self.project.callables(path, target.module)
            escape_levels = [
                self.becomes_of(each, each.parameter_at(argument), depth - 1) for each in callees
            ]
            if not escape_levels or Lets.ESCAPE in escape_levels:
                return Lets.ESCAPE
            if Lets.THROUGH in escape_levels:
                found = Lets.THROUGH
        return found

    def _is_forward(self, target: FunctionSummary) -> bool:
        """Whether a function is the forward pass of a network of the project."""
        owner = target.path.rpartition(".")[0]
        return (
            self.project is not None
            and computes(target)
            and self.project.resolve(f"{owner}()", target.module).tag is TypeTag.MODULE
        )

    def ends_tensor(self, target: FunctionSummary, parameter: str, depth: int = 4) -> bool:
        """Whether no gradient of an argument leaves a function, with its results or otherwise, if it is a
        tensor.
        """
        passed = [(path, place) for name, path, place in target.ends_tensors if name == parameter]
        if not passed or self.project is None or depth <= 0:
            return self.becomes_of(target, parameter, depth) is Lets.END
        for path, place in passed:
            if place == ITEM:
                if not self._is_array(path, target.module):
                    return False
                continue
            called = self.project.callables(path, target.module) if path else []
            if path and not (
                called and all(self.ends_tensor(one, one.parameter_at(place), depth - 1) for one in called)
            ):
                return False
        return True

    def _is_array(self, path: str, module: str) -> bool:
        """Whether an access path leads to a numpy array, whose items are numbers."""
        return self.project is not None and self.project.resolve(path, module).tag is TypeTag.NDARRAY

    def binding_of(self, function: Function | ast.Lambda, parameter: str) -> tuple[Binding, Scope]:
        """Return the binding of a parameter, with the scope of the function."""
        scope = self.syntax.scopes[function]
        return next(b for b in scope.bindings[parameter] if b.kind is BindingKind.PARAMETER), scope

    def _of_parameter(self, function: Function, parameter: str) -> Iterator[Sink[SinkKind]]:
        return GradientTrace(self).of_binding(*self.binding_of(function, parameter))

    def put_into(self, name: str, scope: Scope | None) -> list[ast.expr]:
        """Return what is put into the container or the tensor that a variable holds: the arguments of methods
        that insert, and values assigned to items.
        """
        if name not in self._filled:
            return []
        known = self._put_into.get((name, scope))
        if known is None:
            known = self._put_into[name, scope] = list(self._find_put_into(name, scope))
        return known

    @cached_property
    def _filled(self) -> frozenset[str]:
        """Return the names of the variables that values may be inserted into."""
        attributes = self.syntax.written.attributes
        methods = facts.PUTS_IN | facts.PUTS_IN_DICT
        owners = [use.value for method in methods for use in attributes.get(method, ())]
        owners += [item.value for item in self.syntax.written.item_stores]
        return frozenset(owner.id for owner in owners if isinstance(owner, ast.Name))

    def _find_put_into(self, name: str, scope: Scope | None) -> Iterator[ast.expr]:
        for use in self.syntax.variables.uses(name, scope):
            match self.syntax.parents.get(use):
                case ast.Attribute(attr=method) as attribute if method in facts.PUTS_IN:
                    call = self.syntax.parents.get(attribute)
                    if isinstance(call, ast.Call):
                        yield from call.args[-1:]
                case ast.Attribute(attr=method) as attribute if method in facts.PUTS_IN_DICT:
                    call = self.syntax.parents.get(attribute)
                    if isinstance(call, ast.Call) and self.analysis.types.type_of(use).tag is TypeTag.DICT:
                        yield from (*call.args[-1:], *(keyword.value for keyword in call.keywords))
                case ast.Subscript(ctx=ast.Store()) as item:
                    yield from self._stored_in(item, use)

    def _stored_in(self, item: ast.Subscript, held: ast.expr) -> Iterator[ast.expr]:
        """Yield the value assigned to an item, alone or as one of several (`losses["a"], count = f(x)`),
        unless the whole is an array, whose items are numbers.
        """
        if self.analysis.types.type_of(held).tag in facts.HAVE_NO_GRADIENT:
            return
        around = self.syntax.parents.get(item)
        while isinstance(around, (ast.Tuple, ast.List, ast.Starred)):
            around = self.syntax.parents.get(around)
        match around:
            case (
                ast.Assign(value=value)
                | ast.AugAssign(value=value)
                | ast.AnnAssign(value=ast.expr() as value)
            ):
                yield value
            case ast.For(iter=value) | ast.AsyncFor(iter=value):
                yield value

    def handed_to(self, call: ast.Call, argument: ast.AST) -> list[tuple[FunctionSummary, str]] | None:
        """Return the functions of the project that a call may run, each with the parameter that receives an
        argument; None if there are none, or if star arguments hide it.
        """
        if self.project is None:
            return None
        targets = self.project.callables(self.path_of(call), self.analysis.name)
        found = []
        for target in targets:
            parameter = parameter_of(argument, call, target)
            if parameter is None:
                return None
            found.append((target, parameter))
        return found or None

    def computes_by_name(self, call: ast.Call) -> bool:
        """Whether a call likely runs a method or a part of a network of unknown class: in all networks of the
        project, a member of that name returns the output of layers; `forward` does in any case.
        """
        if runs_forward(call, self.analysis):
            return True
        if self.project is None or not computes_by_name(
            call, self.analysis, self.project, self.has_weights_read
        ):
            return False
        return self.supposes_network(call)

    def shows_network(self, call: ast.Call) -> bool:
        """Whether a call likely runs a network of unknown class, as the file reads its weights, or loads it
        and passes it a tensor.
        """
        called = call.func
        if isinstance(called, ast.Attribute) and called.attr == "forward":
            called = called.value
        if self.analysis.types.type_of(called):
            return False
        if not self.has_weights_read(called) and not runs_loaded(call, self.analysis):
            return False
        return self.supposes_network(call)

    def has_weights_read(self, expression: ast.expr) -> bool:
        """Whether the file reads the weights of an expression, itself or by a function that it passes it to,
        or other classes of the project hold networks in attributes of the same name.
        """
        reads = self.analysis.weight_reads
        if reads.include(expression):
            return True
        if self.project is None:
            return False
        return reads.include_passed(expression, self._targets) or is_held_by_other_classes(
            expression, self.analysis, self.project
        )

    def _targets(self, call: ast.Call) -> list[FunctionSummary]:
        """Return the functions of the project that a call may run."""
        return self.project.callables(self.path_of(call), self.analysis.name) if self.project else []

    def plain_items(self, call: ast.expr) -> frozenset[int]:
        """Return the items of the tuple that a call returns which surely carry no gradient."""
        if self.project is None or not isinstance(call, ast.Call):
            return frozenset()
        targets = self._targets(call)
        if not targets or not all(target.plain_results or target.stepped_results for target in targets):
            return frozenset()
        return frozenset.intersection(*map(self._plain_items_of, targets))

    def _plain_items_of(self, function: FunctionSummary) -> frozenset[int]:
        """Return the items of a function's results that carry no gradient."""
        open_items = {
            item
            for item, path in function.stepped_results
            if not self._is_of_library(path.rpartition(".")[0], function.module)
        }
        stepped = {item for item, _ in function.stepped_results}
        return frozenset(function.plain_results) | (stepped - open_items)

    def _is_of_library(self, path: str, module: str) -> bool:
        """Whether an access path leads to an environment whose class no file of the project defines."""
        assert self.project is not None
        kind = self.project.resolve(path, module)
        return kind.tag is TypeTag.ENVIRONMENT and self.project.class_of(kind) is None

    def steps_environment(self, call: ast.Call) -> bool:
        """Whether a call takes a step of an environment: `env.step(action)`."""
        return (
            isinstance(call.func, ast.Attribute)
            and self.analysis.loops.driver_of(call) is Driver.ENVIRONMENT_STEP
        )

    def gives_numbers(self, call: ast.Call) -> bool:
        """Whether a call takes a step of an environment of a library, which returns arrays and numbers."""
        if self.project is None or not isinstance(call.func, ast.Attribute):
            return False
        kind = self.analysis.types.type_of(call.func.value)
        if kind.tag is not TypeTag.ENVIRONMENT or self.project.class_of(kind) is not None:
            return False
        return self.steps_environment(call)

    def is_of_network(self, method: FunctionSummary) -> bool:
        """Whether a function is a method of a network that returns the output of layers, or of its parts."""
        return (
            self.project is not None
            and computes(method)
            and method in self.project.network_methods(method.name)
        )

    def supposes_network(self, call: ast.Call) -> bool:
        """Whether it may be assumed that a call runs a network: not `values.mean()`, a method of tensors."""
        called = call.func
        if isinstance(called, ast.Attribute):
            if called.attr in models.methods_of(TypeTag.TENSOR):
                return False
            owner = self.analysis.types.type_of(called.value)
            if owner.tag is TypeTag.MODULE and owner.assumes:
                self.analysis.notes.add(owner.caveat)
                return True  # it is already assumed to be a network
        return self.analysis.types.supposes(f"`{ast.unparse(call.func)}` runs a network")

    def is_torch_distribution(self, expression: ast.expr) -> bool:
        """Whether a value is always a torch distribution, or of a class that samples in the same way."""
        kind = self.analysis.types.type_of(expression)
        cls = self.project.class_of(kind) if self.project is not None else None
        if cls is None or self.project is None:
            return kind.tag is TypeTag.DISTRIBUTION
        bases = [base for base in self.project.ancestry(cls) if isinstance(base, str)]
        inherits = any(base.startswith("torch.distributions.") for base in bases)
        return inherits and self.project.method(cls, "sample") is None

    def library_function(self, call: ast.Call) -> str:
        """Return the dotted name of the library function that a call runs, also one that an attribute or
        variable holds (`self.activation = F.relu`); of other calls, what the name imports, or "".
        """
        qualified = self.analysis.names.qualified(call.func)
        if qualified is not None:
            return qualified
        held = self.analysis.types.type_of(call.func)
        is_library = held.tag is TypeTag.FUNCTION and models.callable_fact(held.of) is not None
        return held.of if is_library else ""

    def path_of(self, call: ast.Call) -> str:
        """Return the access path of the called function; "" if it is not known."""
        qualified = self.analysis.names.qualified(call.func)
        if qualified is not None:
            return qualified
        if isinstance(call.func, ast.Attribute):
            owner = self.analysis.types.type_of(call.func.value)
            if owner.tag is TypeTag.MODULE and not owner.of:
                return f"{facts.ANY_NETWORK}.{call.func.attr}"
            if not owner.of:
                return ""
            return f"{owner.of}().{call.func.attr}" if owner else f"{owner.of}.{call.func.attr}"
        called = self.analysis.types.type_of(call.func)
        return (
            f"{called.of}()" if called.of and called.tag in (TypeTag.MODULE, TypeTag.INSTANCE) else called.of
        )

    # -- backwards: the sources of a value ----------------------------------------------------------

    def sources(self, expression: ast.expr, without: Collection[ast.expr] = ()) -> GradientSources:
        """Return the sources of the gradient of an expression's value, ignoring paths through the expressions
        `without`; empty if it carries none.
        """
        if without:
            return GradientOrigins(self, without).of(expression)
        known = self._sources.get(expression)
        if known is None:
            known = self._sources[expression] = GradientOrigins(self).of(expression)
        return known
