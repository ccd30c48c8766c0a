"""Queries about gradients: where autograd is enabled, and where gradients come from and go."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from functools import cached_property, partial

from rlint.models import vocabulary
from rlint.models.value_type import Type, TypeTag
from rlint.semantics.dataflow.value_flow import Sink
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.frequency.roles import acts_when_called, is_loss
from rlint.semantics.interprocedural.call_targets import arguments_of, parameter_of
from rlint.semantics.interprocedural.lambdas_called import lambdas_called
from rlint.semantics.interprocedural.leaving_values import LeavingValues
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.interprocedural.whole_program import WholeProgram
from rlint.semantics.model_nn import NetworkQueries
from rlint.semantics.model_symbols import FileSymbols
from rlint.semantics.model_types import TypeQueries
from rlint.semantics.nn.autograd import Autograd, AutogradCallers, leaves_autograd_alone
from rlint.semantics.nn.by_use.detached_results import DetachedResults
from rlint.semantics.nn.by_use.learned_results import LearnedResults
from rlint.semantics.nn.forward_calls import ForwardCalls
from rlint.semantics.nn.gradient_flow import GradientFlow, TracedGradient
from rlint.semantics.nn.gradient_sinks import SinkKind
from rlint.semantics.nn.gradient_sources import GradientSources
from rlint.semantics.nn.learned_parameters import learns_all
from rlint.semantics.nn.methods_by_name import is_open, taking_of
from rlint.semantics.types.likely.notes import NOTHING, Noted
from rlint.syntax.last_names import last_name
from rlint.syntax.walk import descendants

_DEPTH = 3
"""Maximum number of calls between a function and one that computes gradients."""
_NETWORKS = frozenset({"torch.nn.Module", "transformers.PreTrainedModel"})
_MAY_BE_DATA = frozenset({TypeTag.UNKNOWN, TypeTag.TENSOR, TypeTag.NDARRAY, TypeTag.LIST, TypeTag.TUPLE})
_OF_PARAMETERS = ("parameters", "register_parameter")


def _augments(network: ast.expr) -> bool:
    """Whether a module changes images at random, judging by its name."""
    return not vocabulary.AUGMENTS.isdisjoint((last_name(network) or "").lower().split("_"))


def _is_named_like_network(value: ast.expr) -> bool:
    return not vocabulary.NETWORKS.isdisjoint((last_name(value) or "").lower().split("_"))


class GradientQueries:
    """Answers whether autograd records a call, and where gradients come from and go to. If unknown, the
    answer is UNKNOWN, or includes a sink for unknown code.
    """

    def __init__(
        self,
        analysis: FileAnalysis,
        program: WholeProgram,
        symbols: FileSymbols,
        types: TypeQueries,
        nn: NetworkQueries,
    ) -> None:
        self._syntax = analysis.syntax
        self._symbols = symbols
        self._types = types
        self._nn = nn
        self._autograd = analysis.autograd
        self._callers = AutogradCallers(
            program.heat, program.guesses, partial(leaves_autograd_alone, index=program.index)
        )
        self._forwards = ForwardCalls(program.heat)
        self._gradients = GradientFlow(analysis, self._autograd, program.index)
        self._learned = LearnedResults(analysis)
        self._detached = DetachedResults(analysis)
        self._analysis = analysis
        self._program = program
        self._traced: dict[ast.expr, tuple[TracedGradient, Noted]] = {}
        self._sinks: dict[ast.expr, tuple[tuple[Sink[SinkKind], ...], Noted]] = {}
        self._contained: dict[ast.expr, tuple[tuple[Sink[SinkKind], ...], Noted]] = {}
        self._giving: dict[ast.Call, tuple[bool, Noted]] = {}

    def autograd_at(self, node: ast.AST) -> Autograd:
        """Return whether autograd is disabled where a node runs: by a block, a decorator, or all calls of its
        function.
        """
        said = self._autograd.at(node)
        function = self._syntax.function(node)
        if said is not None or function is None:
            return said or Autograd.ON
        summary = self._symbols.function_at(node)
        if summary is None:
            return Autograd.UNKNOWN
        known = self._callers.of(summary)
        return Autograd.ON if known is Autograd.UNKNOWN and self._is_likely_recorded(summary) else known

    def _is_likely_recorded(self, function: FunctionSummary) -> bool:
        """Whether code that is not known likely calls an object of a class with autograd on: a loss, of which
        it computes a gradient, or an agent that acts.
        """
        owner = function.qualname.rpartition(".")[0]
        return (
            (
                acts_when_called(function, owner)
                or (is_loss(owner) and bool(function.gradient_from or function.runs))
            )
            and self._callers.is_called_unseen(function)
            and self._analysis.types.supposes(f"autograd is on in `{function.shown}`")
        )

    def gives_gradient(self, call: ast.Call) -> bool:
        """Whether a call returns the output of a network: it calls a network, or a project function that
        returns such an output. Whether autograd is disabled at the call is not considered.
        """
        return self._analysis.notes.kept(self._giving, call, lambda: self._may_give_gradient(call))

    def _may_give_gradient(self, call: ast.Call) -> bool:
        if self._is_tested_for_no_network(call.func):
            return False
        called = self._called(call)
        if self._forwards.runs_network(self._types.type_of(called)):
            structure = self._nn.architecture(called)
            # without weights, it records nothing by itself
            if not structure.weights and _augments(called):
                return False
            return structure.weights or not structure.complete or self._makes_parameters(structure.classes)
        return (
            self._returns_gradient(call)
            or self._runs_given(call)
            or self.runs_lambda(call)
            or self._gives_by_name(call)  # it may be certain
            or self._gradients.computes_by_name(call)
            or self._gradients.shows_network(call)
            or self._gives_as_learned(call)
            or self._gives_as_detached(call)
            or self._gives_as_named(call)
            or self._gives_by_method(call)
        )

    def _called(self, call: ast.Call) -> ast.expr:
        """Return what a call runs: `net` for `net(x)`, and for `net.forward(x)` of a network of torch."""
        match call.func:
            case ast.Attribute(value=owner, attr="forward") if not self._types.type_of(call.func):
                return owner
        return call.func

    def _is_tested_for_no_network(self, called: ast.expr) -> bool:
        """Whether an `isinstance` test around a call shows that it runs another object than a network."""
        if not isinstance(called, ast.Name):
            return False
        child: ast.AST = called
        for parent in self._syntax.ancestors(called):
            match parent:
                case ast.If(
                    test=ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=tested), cls]),
                    orelse=orelse,
                ) if tested == called.id and child in orelse:
                    return self._analysis.names.qualified(cls) in _NETWORKS
            child = parent
        return False

    def _gives_as_learned(self, call: ast.Call) -> bool:
        """Whether a function likely returns a tensor that requires grad, as the file differentiates the
        result of another call of it, whose arguments carry no gradient.
        """
        others = self._learned.other_calls(call)
        if not others or all(map(self._takes_gradient, others)):
            return False
        if self._differentiates(self._types.call_targets(call), _DEPTH):
            return False  # it may need autograd itself
        called = ast.unparse(call.func)
        return self._analysis.types.supposes(f"`{called}` returns a tensor that requires grad each time")

    def _gives_as_detached(self, call: ast.Call) -> bool:
        """Whether a call of unknown code likely returns a tensor that requires grad, as the file detaches its
        result.
        """
        if not self._detached.include(call) or not self._runs_unknown_code(call):
            return False
        if self.autograd_at(call) is not Autograd.ON:
            return False
        called = ast.unparse(call.func)
        return self._analysis.types.supposes(f"`{called}` returns a tensor that requires grad")

    def _gives_as_named(self, call: ast.Call) -> bool:
        """Whether a call of a value of unknown type likely runs a network, as the value is named like one
        and a tensor is passed to it: `self.model(states)`.
        """
        called = call.func
        if not isinstance(called, (ast.Name, ast.Attribute)) or not _is_named_like_network(called):
            return False
        if all(self._types.type_of(each).tag is not TypeTag.TENSOR for each in arguments_of(call)):
            return False
        if self._types.type_of(called) or self._types.call_targets(call):
            return False
        if self._analysis.names.qualified(called) is not None or self.autograd_at(call) is not Autograd.ON:
            return False
        return self._analysis.types.supposes(f"`{ast.unparse(called)}` is a network")

    def _gives_by_method(self, call: ast.Call) -> bool:
        """Whether a function of the project likely returns the output of a network whose class is not
        known.
        """
        targets = self._types.call_targets(call)
        if not targets or not all(map(self._forwards.may_return_gradient, targets)):
            return False
        return self._analysis.types.supposes(f"`{targets[0].shown}` runs a network")

    def _runs_unknown_code(self, call: ast.Call) -> bool:
        """Whether a call passes a value that may be a tensor to a callable that may be a network, or to a
        function of the project that computes its result by one.
        """
        if all(self._types.type_of(each).tag not in _MAY_BE_DATA for each in arguments_of(call)):
            return False
        targets = self._types.call_targets(call)
        if targets:
            return all(self._computes_unseen(target, _DEPTH) for target in targets)
        called = call.func
        if self._types.type_of(called) or self._analysis.names.qualified(called) is not None:
            return False
        match called:
            case ast.Name():
                return True
            case ast.Attribute(value=owner, attr=name):
                if self._types.type_of(owner).tag is TypeTag.MODULE:
                    return not self._program.index.network_methods(name)
                return (
                    name == "forward"
                    or self._analysis.names.is_self(owner)
                    or self._runs_method_of_network(call, owner)
                )
        return False

    def _runs_method_of_network(self, call: ast.Call, owner: ast.expr) -> bool:
        """Whether a tensor is passed to a method of an object of unknown class that is named like a network:
        `self.vae.encode(images)`.
        """
        if self._types.type_of(owner) or not _is_named_like_network(owner):
            return False
        return any(self._types.type_of(each).tag is TypeTag.TENSOR for each in arguments_of(call))

    def _computes_unseen(self, function: FunctionSummary, depth: int) -> bool:
        """Whether a function returns what it computes by a callable that is not known, and leaves the
        gradient to its callers.
        """
        if not self._forwards.leaves_gradient(function):
            return False
        if function.runs:
            return True
        index = self._program.index
        for path in filter(None, function.gradient_from):
            called = index.callables(path, function.module)
            if called:
                if depth and any(self._computes_unseen(each, depth - 1) for each in called):
                    return True
            elif "()" in path and not index.resolve(path.removesuffix("()"), function.module):
                return True
        return False

    def _differentiates(self, functions: Iterable[FunctionSummary], depth: int) -> bool:
        """Whether one of the functions, or a function that it calls, computes gradients."""
        for function in functions:
            for site in function.calls:
                if site.method == "backward" or site.path.startswith("torch.autograd."):
                    return True
                called = self._program.index.callables(site.path, function.module) if site.path else ()
                if depth and called and self._differentiates(called, depth - 1):
                    return True
        return False

    def _takes_gradient(self, call: ast.Call) -> bool:
        return any(
            self._surely_gives(source)
            for argument in arguments_of(call)
            for source in self.sources(argument).calls
        )

    def _surely_gives(self, call: ast.Call) -> bool:
        return self._forwards.runs_network(self._types.type_of(self._called(call))) or self._returns_gradient(
            call
        )

    def _returns_gradient(self, call: ast.Call) -> bool:
        """Whether a call runs a function of the project that returns the output of a network."""
        return self._forwards.gives_gradient(self._gradients.path_of(call), self._symbols.module.module)

    def _gives_by_name(self, call: ast.Call) -> bool:
        """Whether a call on an object of unknown class likely returns the output of a network, as all methods
        (or attributes) of this name in the project's classes do.
        """
        called = call.func
        if not isinstance(called, ast.Attribute) or not is_open(call, self._analysis, TypeTag.UNKNOWN):
            return False
        if self._types.call_targets(call):
            return False
        index = self._program.index
        methods = index.methods_named(called.attr)
        if self._nn.has_weights_read(called.value):
            networks = index.network_methods(called.attr)
            own = taking_of([one for one in networks if one.module == self._analysis.name], call)
            if own and all(map(self._forwards.returns_gradient, own)):
                return True
            methods = networks or methods
        if not methods:
            found = index.holds_networks(called.attr, in_networks=False)
        else:
            # an abstract method returns nothing that could be used
            taking = [one for one in taking_of(methods, call) if one.returns_values]
            found = bool(taking) and all(map(self._forwards.returns_gradient, taking))
        return found and self._gradients.supposes_network(call)

    def runs_argument(self, call: ast.Call, argument: ast.expr, target: FunctionSummary) -> bool:
        """Whether a function of the project runs a network that a call passes to it, and leaves the gradient
        of the output to its callers.
        """
        return parameter_of(argument, call, target) in target.runs and self._forwards.leaves_gradient(target)

    def _runs_given(self, call: ast.Call) -> bool:
        """Whether a function returns the output of a network that the call passes to it."""
        for target in self._types.call_targets(call):
            if not target.runs or not self._forwards.leaves_gradient(target):
                continue
            for argument in arguments_of(call):
                if parameter_of(argument, call, target) in target.runs:
                    if not self._is_network(argument) or self._nn.is_frozen(argument):
                        continue
                    return True
        return False

    def _is_network(self, argument: ast.expr) -> bool:
        """Whether an argument is a network, or likely one, as the file reads its weights."""
        kind = self._types.type_of(argument)
        if kind:
            return self._forwards.runs_network(kind)
        return self._nn.has_weights_read(argument) and self._analysis.types.supposes(
            f"`{ast.unparse(argument)}` is a network"
        )

    def runs_lambda(self, call: ast.Call) -> bool:
        """Whether a call runs a lambda that returns the output of a network: that of a variable, or one that
        callers in this file pass for a parameter (`line_search(lambda: loss(net), step)`). Lambdas that
        differentiate, as products with a second derivative do, need autograd themselves.
        """
        if not isinstance(call.func, ast.Name) or self._types.call_targets(call):
            return False
        return any(
            self._surely_gives(source) or self._gives_as_learned(source)
            for function in lambdas_called(call.func, self._analysis)
            if not self._calls_derivative(function.body)
            for source in self.sources(function.body).calls
        )

    def _calls_derivative(self, body: ast.expr) -> bool:
        """Whether a lambda calls a function of this file that computes a gradient."""
        calls = (node for node in descendants(body) if isinstance(node, ast.Call))
        targets = (target for call in calls for target in self._types.call_targets(call))
        name_of = self._analysis.names.qualified
        return any(
            isinstance(node, ast.Call) and name_of(node.func) == "torch.autograd.grad"
            for function in map(self._types.definition, targets)
            if function is not None
            for node in descendants(function)
        )

    def _makes_parameters(self, classes: Collection[str]) -> bool:
        """Whether a constructor of one of these network classes registers parameters, or passes them on."""
        index = self._gradients.project
        for path in classes:
            cls = index.class_of(Type(TypeTag.MODULE, of=path)) if index is not None else None
            made = index.method(cls, "__init__") if index is not None and cls is not None else None
            if made is not None and any(call.method in _OF_PARAMETERS for call in made.calls):
                return True
        return False

    def sinks(self, expression: ast.expr) -> tuple[Sink[SinkKind], ...]:
        """Return the sinks of the gradient of an expression's value: where it is detached, used in a loss,
        stored, returned or passed to unknown code.
        """
        return self._analysis.notes.kept(self._sinks, expression, lambda: self._gradients.outlets(expression))

    def contained_sinks(self, expression: ast.expr) -> tuple[Sink[SinkKind], ...]:
        """Return the same if no gradient leaves the function; empty as soon as a sink is found through which
        it does.
        """
        return self._analysis.notes.kept(
            self._contained, expression, lambda: self._gradients.ends(expression)
        )

    def is_assumed(self, call: ast.Call) -> bool:
        """Whether it depends on an assumption that a call returns a tensor that requires grad, or that no
        gradient of it leaves the function.
        """
        notes = self._analysis.notes
        around, notes.state = notes.state, NOTHING
        try:
            self.gives_gradient(call)
            self.contained_sinks(call)
            return bool(notes.state.assumed)
        finally:
            notes.state = around.joined(notes.state)

    def traced(self, expression: ast.expr) -> TracedGradient:
        """Return the same, also following the value out of its function: to callers, readers of attributes,
        and the functions that it is passed to. More expensive than `sinks`: query it last.
        """
        return self._analysis.notes.kept(
            self._traced,
            expression,
            lambda: self._gradients.traced(
                expression, self._leaving, lambda node: self.autograd_at(node) is Autograd.OFF
            ),
        )

    @cached_property
    def _leaving(self) -> LeavingValues:
        return LeavingValues(self._analysis, self._program.program_symbols)

    def training_caller(self, node: ast.AST) -> str | None:
        """Return the name of a function or script in another file that calls the function around a node and
        computes a gradient, if all callers in other files evidently compute that of its result; None
        otherwise.
        """
        summary = self._symbols.function_at(node)
        if summary is None:
            return None
        edges = [
            edge
            for edge in self._program.heat.graph.callers(summary.path)
            if edge.caller.module != summary.module
            and not self._program.index.modules[edge.caller.module].is_test
        ]
        for edge in edges:
            if edge.site.ends or edge.site.autograd is Autograd.OFF or not edge.site.is_learned:
                return None
        return edges[0].caller.shown or edges[0].caller.module if edges else None

    def is_learned_by(self, call: ast.Call, argument: ast.AST) -> bool:
        """Whether a call likely runs a function that calls `backward` on an argument: all functions that it
        may run do, or else all methods of this name in the project.
        """
        targets = self._types.call_targets(call)
        if targets or not isinstance(call.func, ast.Attribute):
            return learns_all(targets, call, argument)
        if not any(is_open(call, self._analysis, tag) for tag in (TypeTag.UNKNOWN, TypeTag.MODULE)):
            return False
        named = taking_of(self._program.index.methods_named(call.func.attr), call)
        return learns_all(named, call, argument) and self._analysis.types.supposes(
            f"`{ast.unparse(call.func)}` calls `backward`"
        )

    def returns_learned(self, call: ast.Call, item: int | str | None) -> bool:
        """Whether an item of the result of a call (-1 for all of it, None for any item) carries the graph of
        a network on which the called function has already called `backward`.
        """
        targets = self._types.call_targets(call)
        return bool(targets) and all(
            any(
                item in (key, None)
                and any(self._forwards.gives_gradient(path, target.module) for path in paths)
                for key, paths in target.learned_results
            )
            for target in targets
        )

    def variable_sinks(self, name: ast.Name) -> tuple[Sink[SinkKind], ...]:
        """Return the same for the value of a variable, from the place where the name binds or reads it."""
        return self._gradients.variable_outlets(name)

    def sources(self, expression: ast.expr, without: Collection[ast.expr] = ()) -> GradientSources:
        """Return the calls, parameters and attributes that the gradient of a value can come from, ignoring
        paths through the expressions `without`.
        """
        return self._gradients.sources(expression, without)
