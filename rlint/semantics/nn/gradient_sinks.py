"""Walk from a value that carries a gradient to all values computed from it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rlint import models
from rlint.enums import Enum
from rlint.models import gradient_rules as facts
from rlint.models import vocabulary
from rlint.models.effect import EffectKind
from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.dataflow.value_flow import Beyond, Cause, Onward, Sink, TupleItem, ValueFlow
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.nn.autograd import Autograd
from rlint.semantics.nn.gradient_sources import gives_indices
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import Function
from rlint.syntax.value_use import SyntacticUse, UseKind

if TYPE_CHECKING:
    from rlint.semantics.nn.gradient_flow import GradientFlow

LEARNS = frozenset({"backward", "register_hook", "retain_grad", "manual_backward"})
"""Methods that compute a gradient, or register a hook for one."""
_ENUMERATE = "builtins.enumerate"
_PAIRS = frozenset({_ENUMERATE, "builtins.zip"})
TAKES = ("torch.autograd.", "torch.func.")
"""Modules whose functions compute a gradient."""
_ENDS_AS_NUMBER = facts.GIVES_NUMBER | facts.COMPARES


class SinkKind(Enum):
    """Kinds of uses that end the walk of a gradient."""

    NUMBER = "number"
    """It becomes a Python number, or is printed or compared: the graph is not used any more."""
    SHOWN = "shown"
    """It is formatted in a way that shows whether it carries a gradient."""
    CONVERTED = "converted"
    """It becomes a number through `float()` and similar, for which torch warns of the gradient."""
    INDEX = "index"
    """It becomes indices or counts of elements."""
    DETACHED = "detached"
    """It is detached from the graph, or sampled from (`dist.sample()`)."""
    LEARNED = "learned"
    """A gradient is computed from it, or a hook is registered on it."""
    RETURNED = "returned"
    STORED = "stored"
    HANDED = "handed"
    """It is passed to a call that may do anything with it."""
    ARRAY = "array"
    """It is converted to a numpy array without `detach`, which fails if a gradient is recorded: so none
    is.
    """


class Lets(Enum):
    """What a function does with the gradient of an argument."""

    END = "end"
    THROUGH = "through"
    """It reaches only the results."""
    ESCAPE = "escape"


ENDS = frozenset({SinkKind.NUMBER, SinkKind.SHOWN, SinkKind.CONVERTED, SinkKind.INDEX, SinkKind.DETACHED})
"""The sinks through which no gradient leaves the function."""


_LOSS_FUNCTION = regex(r"(^|_)(criterion|criteria|loss|loss_?f(n|unc|unction))$")
_ACTIVATION = regex(r"(^|_)(act|activ|activation|non_?linearity|nonlin)(_?(f|fn|func|function))?$")
_SINKS = {
    UseKind.RETURNED: SinkKind.RETURNED,
    UseKind.COMPARED: SinkKind.NUMBER,
    UseKind.TESTED: SinkKind.NUMBER,
    UseKind.SHOWN: SinkKind.SHOWN,
    UseKind.INDEX: SinkKind.INDEX,
}
_GIVEN_UP = {
    Cause.TOO_MANY: SinkKind.HANDED,
    Cause.CAPTURED: SinkKind.HANDED,
    Cause.DYNAMIC: SinkKind.HANDED,
    Cause.CLASS_BODY: SinkKind.STORED,
    Cause.OBJECT: SinkKind.STORED,
    Cause.CALLERS: SinkKind.RETURNED,
    Cause.OTHER_PLACE: SinkKind.HANDED,
    Cause.TOO_DEEP: SinkKind.HANDED,
}


class GradientTrace(ValueFlow[SinkKind]):
    """One walk from a value that carries a gradient to all values computed from it."""

    def __init__(
        self,
        gradients: GradientFlow,
        beyond: Beyond | None = None,
        is_off: Callable[[ast.AST], bool] | None = None,
        of_lambda: ast.Lambda | None = None,
    ) -> None:
        super().__init__(gradients.analysis, _SINKS, _GIVEN_UP, beyond)
        self.gradients = gradients
        self._is_off = is_off
        self._of_lambda = of_lambda
        self._left: set[Function] = set()
        self._is_recurrent = False  # whether it is passed back to a function that returned it
        self._stored: list[tuple[ast.AST, ast.Call, tuple[ast.Call, ...]]] = []

    def _walk(self) -> Iterator[Sink[SinkKind]]:
        """Walk, and then through the calls that store the value, unless it is recurrent state: a buffer
        stores this as data.
        """
        yield from super()._walk()
        stored, self._stored = self._stored, []
        for argument, call, inside in stored:
            self._inside = inside
            if self._is_recurrent:
                self.assumed[f"trains on the graph of the states that `{last_name(call.func)}` stores"] = None
                self.reach(call, SinkKind.DETACHED)
            else:
                self._passed_to(argument, call)
        if stored:
            yield from self._walk()

    def enter(self, call: ast.Call, function: Function, parameter: str) -> None:
        """Follow a value into a function; note that it is passed back."""
        self._is_recurrent |= function in self._left
        super().enter(call, function, parameter)

    def compute(self, node: ast.AST, item: int | None = None) -> None:
        """Follow the result of an operation on the value, if torch records it there."""
        if self.gradients.here.at(node) is Autograd.OFF:
            self.reach(node, SinkKind.DETACHED)
        else:
            self.follow(node, item)

    def operand(self, use: SyntacticUse) -> None:
        """Follow the result, if torch records it there."""
        self.compute(use.at)

    called = operand
    """Handle a call of the value: it can only be a network computed from it."""

    def follow_target(self, target: ast.expr, part: int | None, statement: ast.AST) -> None:
        """Record that an item of a numpy array which is set becomes a number: `values[t] = value`. Of the
        tuple that a function returns, follow the items that carry the gradient.
        """
        match target, statement:
            case ast.Tuple(elts=elements), ast.Assign(value=ast.Call() as call) if part is None:
                plain = self.gradients.plain_items(call)
                before_stars = next(
                    (at for at, one in enumerate(elements) if isinstance(one, ast.Starred)), len(elements)
                )
                for index, element in enumerate(elements):
                    if index in plain and index < before_stars:
                        self.reach(element, SinkKind.DETACHED)
                    else:
                        self.follow_target(element, None, statement)
                return
        if (
            isinstance(target, ast.Subscript)
            and self.analysis.types.type_of(target.value).tag is TypeTag.NDARRAY
        ):
            self.reach(target, SinkKind.CONVERTED)
        else:
            super().follow_target(target, part, statement)

    def other_part(self, element: ast.expr, part: int) -> None:
        """Record the indices that are returned with the values."""
        if not isinstance(part, TupleItem):
            self.reach(element, SinkKind.INDEX)

    def element(self, use: SyntacticUse) -> None:
        """Follow the collection; of a tuple that leaves the function, the one item."""
        around = use.at
        if self.beyond is not None and isinstance(around, ast.Tuple) and use.node in around.elts:
            index = around.elts.index(use.node)
            if not any(isinstance(one, ast.Starred) for one in around.elts[: index + 1]):
                self.follow(around, TupleItem(index))
                return
        self.follow(around)

    def result(self, call: ast.expr, part: int | None) -> None:
        """Follow the result of a call, unless its function runs without autograd there."""
        if self._is_off is None or not self._is_off(call):
            self.follow(call, part)

    def leave(self, use: SyntacticUse, beyond: Beyond) -> None:
        """Follow a returned value, unless its gradient ends in all callers in other files."""
        function = self.syntax.function(use.at) if not self._inside else None
        onward = beyond.returned_to(function) if function is not None else None
        if function is not None:
            self._left.add(function)
        if onward is None or not onward.ends_in_other_files(use.part):
            super().leave(use, beyond)
            return
        self.assumed[onward.assumes] = None
        self.reach(use.at, SinkKind.DETACHED)
        for each in onward.nodes:
            self.result(each, use.part)

    def may_continue(self, node: ast.AST, onward: Onward) -> bool:
        """Follow a value to the known places even if there are others: a gradient may be computed there."""
        return super().may_continue(node, onward) or bool(onward.nodes)

    def attribute(self, use: SyntacticUse) -> None:
        """Follow the attribute if it still belongs to the graph."""
        attribute = use.at
        assert isinstance(attribute, ast.Attribute)
        name = attribute.attr
        if name in facts.ENDING_ATTRIBUTES:
            self.reach(attribute, SinkKind.INDEX if name == "indices" else SinkKind.DETACHED)
        elif name in facts.SHOWING_ATTRIBUTES:
            self.reach(attribute, SinkKind.SHOWN)
        elif name == "volatile" and isinstance(attribute.ctx, ast.Store):
            return  # torch ignores it
        elif name in LEARNS or not isinstance(attribute.ctx, ast.Load):
            self.reach(attribute, SinkKind.HANDED)
        else:
            self.compute(attribute)

    def method(self, use: SyntacticUse) -> None:
        """Record how the method uses the graph, or follow its result."""
        call = use.at
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Attribute)
        self._method(call, call.func.attr)

    def _method(self, call: ast.Call, name: str) -> None:
        if name in _ENDS_AS_NUMBER:
            self.reach(call, SinkKind.NUMBER)
        elif name in facts.GIVES_INDEX:
            self.reach(call, SinkKind.INDEX)
        elif name == "sample":
            self._drawn(call)
        elif name in facts.DETACHES:
            self.reach(call, SinkKind.DETACHED)
        elif name in facts.NEEDS_NO_GRADIENT:
            self.reach(call, SinkKind.ARRAY)
        elif name in LEARNS:
            self.reach(call, SinkKind.LEARNED)
        elif name in facts.INDICES_SECOND and gives_indices(call, self.analysis):
            self.compute(call, 0)
        else:
            self.compute(call)

    def _drawn(self, call: ast.Call) -> None:
        """Record that distributions of torch sample outside of the graph, and follow the result of others:
        many user-written ones sample as `rsample` does.
        """
        assert isinstance(call.func, ast.Attribute)
        if self.gradients.is_torch_distribution(call.func.value):
            self.reach(call, SinkKind.DETACHED)
        else:
            self.compute(call)

    def item(self, use: SyntacticUse) -> None:
        """Follow the item, unless it is the one of a pair that carries no gradient."""
        subscript = use.at
        assert isinstance(subscript, ast.Subscript)
        if not isinstance(subscript.ctx, ast.Load):
            return
        match subscript:
            case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=int(index))):
                if use.part is None and index in self.gradients.plain_items(call):
                    self.reach(subscript, SinkKind.DETACHED)
                    return
        if use.part is not None and isinstance(subscript.slice, ast.Constant):
            if subscript.slice.value == use.part:
                self.compute(subscript)
            elif not isinstance(use.part, TupleItem):
                self.reach(subscript, SinkKind.INDEX)
        else:
            self.compute(subscript)

    def argument(self, use: SyntacticUse) -> None:
        """Record how the call uses the value, or follow its result."""
        argument, call = use.node, use.at
        assert isinstance(call, ast.Call)
        qualified = self.gradients.library_function(call)
        name = qualified.rpartition(".")[2]
        if self._mapped(argument, call, qualified):
            return
        if qualified in facts.LOOKED_AT:
            shown = SinkKind.SHOWN if qualified in facts.SHOWN_BY_BUILTINS else SinkKind.NUMBER
            self.reach(call, SinkKind.CONVERTED if qualified in facts.CONVERTS else shown)
        elif qualified in facts.CARRIED_BY_BUILTINS:
            if qualified not in _PAIRS or not self._zipped(argument, call):
                self.compute(call)
        elif qualified.startswith("math."):
            self.reach(call, SinkKind.CONVERTED)
        elif qualified in facts.MAKES_ARRAY:
            self.reach(call, SinkKind.ARRAY)
        elif qualified in facts.WRAPS_DETACHED:
            self.reach(call, SinkKind.DETACHED)
        elif qualified.startswith(TAKES):
            self.reach(call, SinkKind.LEARNED)
        elif qualified in facts.SENDS:
            self.reach(call, SinkKind.DETACHED)
        elif qualified.startswith("torch.") and not qualified.startswith(
            ("torch.utils.", "torch.distributed.")
        ):
            self._torch_function(call, name)
        elif (
            isinstance(call.func, ast.Attribute)
            and not qualified
            and (call.func.attr in facts.PUTS_IN or self._fills_dict(call.func))
            and self.gradients.handed_to(call, argument) is None
        ):
            self.follow_container(call.func.value, call)
        elif isinstance(call.func, ast.Attribute) and not qualified and models.is_in_place(call.func.attr):
            self.reach(call, SinkKind.HANDED)  # `total.add_(value)`: the graph is that of `total` as well
        else:
            self.called_with(argument, call)

    def _fills_dict(self, method: ast.Attribute) -> bool:
        """Whether a method puts its argument into a dict: `losses.update(found)`."""
        held = self.analysis.types.type_of(method.value).tag
        return method.attr in facts.PUTS_IN_DICT and held is TypeTag.DICT

    def _mapped(self, argument: ast.AST, call: ast.Call, qualified: str) -> bool:
        """Follow the value through `map(f, values)`, or a similar function (`tree_map`); False for another
        call.
        """
        if argument not in call.args[1:] or "map" not in (qualified or last_name(call.func) or ""):
            return False
        function = _lambda_of(call.args[0], self.analysis)
        if function is None:
            return False
        place = call.args.index(argument) - 1 if qualified == "builtins.map" else 0
        return self._by_lambda(function, place, call)

    def _by_lambda(self, function: ast.Lambda, place: int, call: ast.Call) -> bool:
        """Follow a value through a lambda that it is passed to; False if that is not possible."""
        parameters = [*function.args.posonlyargs, *function.args.args]
        if place >= len(parameters) or function is self._of_lambda:
            return False
        trace = GradientTrace(self.gradients, of_lambda=function)
        binding, scope = self.gradients.binding_of(function, parameters[place].arg)
        for left in list(trace.of_binding(binding, scope)):
            if left.label is SinkKind.RETURNED:
                self.compute(call)
            else:
                self.reach(call, left.label)
        return True

    def _use(self, use: SyntacticUse) -> None:
        """Record a use in the body of the lambda whose result is followed."""
        if self._of_lambda is not None and use.at is self._of_lambda and use.node is self._of_lambda.body:
            self.reach(use.at, SinkKind.RETURNED)
        else:
            super()._use(use)

    def _zipped(self, argument: ast.AST, call: ast.Call) -> bool:
        """Follow each value of `for value, target in zip(values, targets)` into its own variable only, and
        those of `enumerate(values)` not into the counter.
        """
        if argument not in call.args or any(isinstance(one, ast.Starred) for one in call.args):
            return False
        counts = self.analysis.names.qualified(call.func) == _ENUMERATE
        if counts and argument is not call.args[0]:
            return False
        path, iterable = [1 if counts else call.args.index(argument)], call
        around = self.syntax.parents[call]
        if isinstance(around, ast.Call) and around.args[:1] == [call]:
            if self.analysis.names.qualified(around.func) != _ENUMERATE:
                return False
            path, iterable, around = [1, *path], around, self.syntax.parents[around]
        if not isinstance(around, (ast.For, ast.comprehension)) or around.iter is not iterable:
            return False
        target = around.target
        for index in path:
            parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
            if index >= len(parts) or any(isinstance(part, ast.Starred) for part in parts):
                return False
            target = parts[index]
        self.follow_target(target, None, around)
        return True

    def _torch_function(self, call: ast.Call, name: str) -> None:
        if any(keyword.arg == "out" for keyword in call.keywords):
            self.reach(call, SinkKind.HANDED)
        elif name in facts.COMPARES or name in ("is_tensor", "numel", "is_floating_point"):
            self.reach(call, SinkKind.NUMBER)
        elif name in facts.GIVES_INDEX:
            self.reach(call, SinkKind.INDEX)
        elif name in facts.DETACHES or name == "tensor":
            self.reach(call, SinkKind.DETACHED)
        elif name in ("save", "from_numpy"):
            self.reach(call, SinkKind.HANDED)
        elif (
            name in facts.INDICES_SECOND
            and len(call.args) + len(call.keywords) > 1
            and gives_indices(call, self.analysis)
        ):
            self.compute(call, 0)
        else:
            self.compute(call)

    def called_with(self, argument: ast.AST, call: ast.Call) -> None:
        """Follow a value that is passed to a network, a method, a project function or unknown code."""
        if self.beyond is not None and is_store(call):
            self._stored.append((argument, call, self._inside))
        else:
            self._passed_to(argument, call)

    def _passed_to(self, argument: ast.AST, call: ast.Call) -> None:
        if self._runs_network(call.func):
            if self._ends_in_network(call, argument):
                self.reach(call, SinkKind.DETACHED)
            else:
                self.compute(call)
            return
        function = _lambda_of(call.func, self.analysis)
        if function is not None and argument in call.args:
            if not self._by_lambda(function, call.args.index(argument), call):
                self.reach(call, SinkKind.HANDED)
            return
        targets = self.gradients.handed_to(call, argument)
        if targets is not None:
            for target, parameter in targets:
                self._followed(call, target, parameter, argument)
            return
        effect = self.analysis.effects.call_effect(call)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if method in LEARNS:
            self.reach(call, SinkKind.LEARNED)  # `accelerator.backward(loss)`
        elif method == "scale":
            self.compute(call)  # `scaler.scale(loss)`
        elif (effect.acts and effect.does_only(EffectKind.WRITES_OUTPUT)) or self._is_formatted(call):
            self.reach(call, SinkKind.SHOWN)
        elif isinstance(call.func, ast.Attribute) and self._is_tensor(call.func.value):
            self._method(call, call.func.attr) if call.func.attr not in facts.PUTS_IN else self.compute(call)
        elif method in vocabulary.OF_TENSORS:
            self._method(call, method)  # `dist.log_prob(action)` of a distribution from elsewhere
        elif (
            self.gradients.computes_by_name(call)
            or self.gradients.shows_network(call)
            or self._only_computes(call)
        ):
            self.compute(call)
        elif self._steps_environment(call) or self._computes_unrecorded(call):
            self.reach(call, SinkKind.DETACHED)
        else:
            self.reach(call, SinkKind.HANDED)

    def _computes_unrecorded(self, call: ast.Call) -> bool:
        """Whether unknown code likely computes something of a value where autograd is off, as a network in a
        list does: `with torch.no_grad(): votes.append(heads[i](features))`.
        """
        return (
            self.gradients.here.at(call) is Autograd.OFF
            and not is_store(call)
            and self.analysis.types.supposes(
                f"`{ast.unparse(call.func)}` neither returns nor keeps what it is passed"
            )
        )

    def _only_computes(self, call: ast.Call) -> bool:
        """Whether an object of unknown class likely is a loss function or an activation, judging by its name:
        `self.criterion(outputs, targets)`.
        """
        called = call.func
        names = _LOSS_FUNCTION if len(call.args) > 1 else _ACTIVATION
        return (
            isinstance(called, (ast.Name, ast.Attribute))
            and bool(names.search(last_name(called) or ""))
            and not self.analysis.types.type_of(called)
            and self.analysis.types.supposes(f"`{ast.unparse(called)}` only computes its result")
        )

    def _steps_environment(self, call: ast.Call) -> bool:
        """Whether a call likely passes an action to an environment that takes tensors as data. Those of
        gymnasium take none that require grad.
        """
        called = call.func
        return (
            isinstance(called, ast.Attribute)
            and self.analysis.types.type_of(called.value).tag is not TypeTag.ENVIRONMENT
            and self.analysis.loops.driver_of(call) is Driver.ENVIRONMENT_STEP
            and self.analysis.types.supposes(f"no gradient is computed through `{ast.unparse(called)}`")
        )

    def _runs_network(self, called: ast.expr) -> bool:
        """Whether a call runs a network: `net(x)`, `net.forward(x)`."""
        if isinstance(called, ast.Attribute) and called.attr == "forward":
            called = called.value
        return self.analysis.types.type_of(called).tag is TypeTag.MODULE

    def _ends_in_network(self, call: ast.Call, argument: ast.AST) -> bool:
        """Whether the forward pass of a class of the project detaches an argument, as that of a loss may do
        with the target values.
        """
        targets = self.gradients.handed_to(call, argument)
        return bool(targets) and all(parameter in target.releases for target, parameter in targets or ())

    def _is_formatted(self, call: ast.Call) -> bool:
        """Whether a call is a method of a string, which returns a string: `"{}".format(value)`."""
        return (
            isinstance(call.func, ast.Attribute)
            and self.analysis.types.type_of(call.func.value).tag is TypeTag.STR
        )

    def _is_tensor(self, expression: ast.expr) -> bool:
        """Whether the value is a tensor or a distribution, whose methods only compute."""
        return self.analysis.types.type_of(expression).tag in (TypeTag.TENSOR, TypeTag.DISTRIBUTION)

    def _followed(self, call: ast.Call, target: FunctionSummary, parameter: str, argument: ast.AST) -> None:
        if target.ends_tensors and self._ends_as_tensor(target, parameter, argument):
            self.reach(call, SinkKind.DETACHED)
            return
        function = self.analysis.definition(target)
        if function is None:
            lets = self.gradients.becomes_of(target, parameter)
            if lets is Lets.END:
                self.reach(call, SinkKind.DETACHED)
            elif lets is Lets.THROUGH or self.analysis.effects.call_effect(call).quiet:
                self.compute(call)  # code that stores nothing can only return it
            elif self.gradients.is_of_network(target) and self.gradients.supposes_network(call):
                self.compute(call)
            else:
                self.reach(call, SinkKind.HANDED)
            return
        if self.beyond is not None:
            self.enter(call, function, parameter)
            return
        for left in self.gradients.parameter_outlets(function, parameter):
            if left.label is SinkKind.RETURNED:
                self.compute(call)
            else:
                self.reach(left.node, left.label)

    def _ends_as_tensor(self, target: FunctionSummary, parameter: str, argument: ast.AST) -> bool:
        """Whether a function lets no gradient of an argument leave that is a tensor, or likely one."""
        if not isinstance(argument, ast.expr) or not self.gradients.ends_tensor(target, parameter):
            return False
        types = self.analysis.types
        kind = types.type_of(argument)
        if kind and not (kind.tag is TypeTag.TUPLE and self._is_no_tuple(argument)):
            return kind.tag is TypeTag.TENSOR
        return types.supposes(f"`{ast.unparse(self._holder(argument))}` is a tensor or holds tensors")

    def _is_no_tuple(self, argument: ast.expr) -> bool:
        """Whether a variable is where no tuple arrives: the `else` of `if isinstance(x, tuple)`."""
        child: ast.AST = argument
        for parent in self.syntax.ancestors(argument):
            match parent:
                case ast.If(
                    test=ast.Call(func=ast.Name(id="isinstance"), args=[tested, classes]), orelse=orelse
                ) if child in orelse and ast.dump(tested) == ast.dump(argument):
                    return any(
                        isinstance(each, ast.Name) and each.id == "tuple" for each in ast.walk(classes)
                    )
            child = parent
        return False

    def _holder(self, argument: ast.expr) -> ast.expr:
        """Return what a loop iterates over, if it binds an argument: `outputs` for `x` in `for x in outputs`;
        else the argument.
        """
        if isinstance(argument, ast.Name):
            for binding in self.analysis.definitions.reaching(argument):
                loop = self.syntax.parents.get(binding.node)
                if isinstance(loop, (ast.For, ast.comprehension)) and isinstance(loop.iter, ast.Name):
                    return loop.iter
        return argument


def is_store(call: ast.Call) -> bool:
    """Whether a method, judging by its name, stores its arguments: `buffer.push(...)`."""
    name = last_name(call.func) if isinstance(call.func, ast.Attribute) else None
    return name is not None and not vocabulary.STORES.isdisjoint(name.lower().split("_"))


def _lambda_of(called: ast.expr, analysis: FileAnalysis) -> ast.Lambda | None:
    """Return the lambda that an expression is, or that its variable is bound to once."""
    if isinstance(called, ast.Lambda):
        return called
    if not isinstance(called, ast.Name):
        return None
    match analysis.definitions.reaching(called):
        case [Binding(kind=BindingKind.ASSIGN, value=ast.Lambda() as function, path=())]:
            return function
    return None
