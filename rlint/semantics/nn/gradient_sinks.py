"""What becomes of a value that carries a gradient: one walk from it to all that is made of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlint.enums import Enum
from rlint.frozen import frozen
from rlint.models import gradient_rules as facts
from rlint.models.effect import EffectKind
from rlint.models.value_type import TypeTag
from rlint.semantics.dataflow.def_use import is_captured
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.nn.autograd import Autograd
from rlint.syntax.scopes import Binding, BindingKind, Scope

if TYPE_CHECKING:
    from rlint.semantics.nn.gradient_flow import GradientFlow

_MOST = 400  # places that are looked at for one value
_MOST_READS = 10 * _MOST  # by which they are met, each perhaps from many bindings
LEARNS = frozenset({"backward", "register_hook", "retain_grad", "manual_backward"})
"""Methods that take a gradient, or wait for one."""
TAKES = ("torch.autograd.", "torch.func.")
"""Modules whose functions take one."""
_CONTAINERS = (TypeTag.LIST, TypeTag.DEQUE, TypeTag.SET, TypeTag.DICT)
_ENDS_AS_NUMBER = facts.GIVES_NUMBER | facts.COMPARES


class SinkKind(Enum):
    """What can become of a value that carries a gradient."""

    NUMBER = "number"
    """It leaves as a Python number, printed or compared: nothing of the graph is left."""
    SHOWN = "shown"
    """It is written down, in a way that tells whether it carries a gradient."""
    CONVERTED = "converted"
    """It becomes a number by `float()` and the like, where torch warns of the gradient."""
    INDEX = "index"
    """It leaves as the indices or counts of elements."""
    DETACHED = "detached"
    """It is cut off the graph, or drawn from (`dist.sample()`)."""
    LEARNED = "learned"
    """A gradient is taken of it, or a hook waits for one."""
    RETURNED = "returned"
    STORED = "stored"
    HANDED = "handed"
    """It goes to a call that may do anything with it."""
    ARRAY = "array"
    """It becomes a numpy array just so, which fails where a gradient is recorded: so none is."""


ENDS = frozenset({SinkKind.NUMBER, SinkKind.SHOWN, SinkKind.CONVERTED, SinkKind.INDEX, SinkKind.DETACHED})
"""The outlets through which no gradient gets out."""


@frozen
class GradientSink:
    """One place where a value that carries a gradient goes."""

    node: ast.AST
    outlet: SinkKind


class GradientTrace:
    """One walk from a value to all that is made of it."""

    def __init__(self, gradients: GradientFlow) -> None:
        self.gradients = gradients
        self.syntax = gradients.syntax
        self.analysis = gradients.analysis
        self._left: list[GradientSink] = []
        self._pending: list[tuple[ast.AST, int | None]] = []
        self._seen: set[object] = set()
        self._reads = 0

    def of(self, expression: ast.expr) -> Iterator[GradientSink]:
        """Walk from the value of an expression."""
        self._go_on(expression)
        return self._walk()

    def of_binding(self, binding: Binding, scope: Scope) -> Iterator[GradientSink]:
        """Walk from what a binding gives its variable."""
        self._variable(binding, scope)
        return self._walk()

    def _walk(self) -> Iterator[GradientSink]:
        yield from self._new_ones()
        while self._pending:
            node, item = self._pending.pop()
            if (node, item) in self._seen:
                continue
            self._seen.add((node, item))
            if len(self._seen) > _MOST:
                self._leave(node, SinkKind.HANDED)
                self._pending.clear()
            else:
                self._used(node, item)
            yield from self._new_ones()

    def _new_ones(self) -> list[GradientSink]:
        found, self._left = self._left, []
        return found

    def _go_on(self, node: ast.AST, item: int | None = None) -> None:
        """Follow the value of a node; `item` is the part of a pair that carries the gradient."""
        self._pending.append((node, item))

    def _leave(self, node: ast.AST, outlet: SinkKind) -> None:
        self._left.append(GradientSink(node, outlet))

    def _compute(self, node: ast.AST, item: int | None = None) -> None:
        """Follow what is computed of the value, if torch records it there."""
        if self.gradients.here.at(node) is Autograd.OFF:
            self._leave(node, SinkKind.DETACHED)
        else:
            self._go_on(node, item)

    def _used(self, node: ast.AST, item: int | None) -> None:
        parent = self.syntax.parents[node]
        match parent:  # the frequent ones first
            case ast.Attribute():
                self._attribute(parent)
            case ast.Call():
                self._argument(node, parent)
            case ast.Assign(targets=targets):
                for target in targets:
                    self._bound(target, item, parent)
            case ast.keyword():
                self._argument(parent, self.syntax.parents[parent])
            case ast.BinOp():
                self._compute(parent)
            case ast.Subscript():
                self._subscript(node, parent, item)
            case ast.Return():
                self._leave(parent, SinkKind.RETURNED)
            case ast.Starred() | ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                self._go_on(parent)
            case ast.Compare() | ast.Assert() | ast.Slice() | ast.Raise():
                self._leave(parent, SinkKind.NUMBER)
            case ast.AugAssign(target=target):
                self._bound(target, None, parent)
            case ast.UnaryOp(op=op):
                self._leave(parent, SinkKind.NUMBER) if isinstance(op, ast.Not) else self._compute(parent)
            case ast.FormattedValue():
                self._leave(parent, SinkKind.SHOWN)
            case ast.Expr() | ast.Delete():
                pass  # thrown away
            case ast.If(test=test) | ast.While(test=test) if test is node:
                self._leave(node, SinkKind.NUMBER)
            case ast.IfExp(test=test) if test is node:
                self._leave(node, SinkKind.NUMBER)
            case ast.IfExp() | ast.BoolOp():
                self._go_on(parent, item)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._go_on(parent)
            case ast.comprehension(target=target, iter=iterable) if iterable is node:
                self._bound(target, None, self.syntax.parents[parent])
            case ast.comprehension():
                self._leave(node, SinkKind.NUMBER)
            case ast.For(target=target, iter=iterable) if iterable is node:
                self._bound(target, None, parent)
            case ast.AnnAssign(target=target):
                self._bound(target, item, parent)
            case ast.NamedExpr(target=target):
                self._bound(target, item, parent)
                self._go_on(parent, item)
            case _:
                self._leave(parent, SinkKind.HANDED)

    def _attribute(self, attribute: ast.Attribute) -> None:
        call = self.syntax.parents[attribute]
        name = attribute.attr
        if isinstance(call, ast.Call) and call.func is attribute:
            self._method(call, name)
        elif name in facts.ENDING_ATTRIBUTES:
            self._leave(attribute, SinkKind.INDEX if name == "indices" else SinkKind.DETACHED)
        elif name in facts.SHOWING_ATTRIBUTES:
            self._leave(attribute, SinkKind.SHOWN)
        elif name in LEARNS or not isinstance(attribute.ctx, ast.Load):
            self._leave(attribute, SinkKind.HANDED)
        else:
            self._compute(attribute)

    def _method(self, call: ast.Call, name: str) -> None:
        if name in _ENDS_AS_NUMBER:
            self._leave(call, SinkKind.NUMBER)
        elif name in facts.GIVES_INDEX:
            self._leave(call, SinkKind.INDEX)
        elif name == "sample":
            self._drawn(call)
        elif name in facts.DETACHES:
            self._leave(call, SinkKind.DETACHED)
        elif name in facts.NEEDS_NO_GRADIENT:
            self._leave(call, SinkKind.ARRAY)
        elif name in LEARNS:
            self._leave(call, SinkKind.LEARNED)
        elif name in facts.INDICES_SECOND:
            self._compute(call, 0)
        else:
            self._compute(call)

    def _drawn(self, call: ast.Call) -> None:
        """Distributions of torch draw outside of the graph. Others may not: many that people write draw
        as `rsample` does.
        """
        assert isinstance(call.func, ast.Attribute)
        if self.gradients.is_torch_distribution(call.func.value):
            self._leave(call, SinkKind.DETACHED)
        else:
            self._compute(call)

    def _subscript(self, node: ast.AST, subscript: ast.Subscript, item: int | None) -> None:
        if node is subscript.slice:
            self._leave(node, SinkKind.INDEX)
        elif not isinstance(subscript.ctx, ast.Load):
            self._go_on(node) if isinstance(subscript.ctx, ast.Del) else None
        elif item is not None and isinstance(subscript.slice, ast.Constant):
            if subscript.slice.value == item:
                self._compute(subscript)
            else:
                self._leave(subscript, SinkKind.INDEX)
        else:
            self._compute(subscript)

    def _argument(self, argument: ast.AST, call: ast.AST) -> None:
        if not isinstance(call, ast.Call):
            self._leave(call, SinkKind.HANDED)
            return
        if argument is call.func:
            self._compute(call)  # a value that is called: a network that was made of it, at most
            return
        qualified = self.analysis.names.qualified(call.func) or ""
        name = qualified.rpartition(".")[2]
        if qualified in facts.LOOKED_AT_BY_BUILTINS:
            shown = SinkKind.SHOWN if qualified in facts.SHOWN_BY_BUILTINS else SinkKind.NUMBER
            self._leave(call, SinkKind.CONVERTED if qualified in facts.CONVERTS else shown)
        elif qualified in facts.CARRIED_BY_BUILTINS:
            if qualified != "builtins.zip" or not self._zipped(argument, call):
                self._compute(call)
        elif qualified.startswith("math."):
            self._leave(call, SinkKind.CONVERTED)
        elif qualified in facts.MAKES_ARRAY:
            self._leave(call, SinkKind.ARRAY)
        elif qualified.startswith(TAKES):
            self._leave(call, SinkKind.LEARNED)
        elif qualified.startswith("torch.") and not qualified.startswith(
            ("torch.utils.", "torch.distributed.")
        ):
            self._torch_function(call, name)
        elif isinstance(call.func, ast.Attribute) and not qualified and call.func.attr in facts.PUTS_IN:
            self._put_into(call.func.value, call)
        else:
            self._called(argument, call)

    def _zipped(self, argument: ast.AST, call: ast.Call) -> bool:
        """`for value, target in zip(values, targets)`: each goes into its own variable alone."""
        if argument not in call.args or any(isinstance(one, ast.Starred) for one in call.args):
            return False
        path, iterable = [call.args.index(argument)], call
        around = self.syntax.parents[call]
        if isinstance(around, ast.Call) and around.args[:1] == [call]:
            if self.analysis.names.qualified(around.func) != "builtins.enumerate":
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
        self._bound(target, None, around)
        return True

    def _torch_function(self, call: ast.Call, name: str) -> None:
        if any(keyword.arg == "out" for keyword in call.keywords):
            self._leave(call, SinkKind.HANDED)
        elif name in facts.COMPARES or name in ("is_tensor", "numel", "is_floating_point"):
            self._leave(call, SinkKind.NUMBER)
        elif name in facts.GIVES_INDEX:
            self._leave(call, SinkKind.INDEX)
        elif name in facts.DETACHES or name == "tensor":
            self._leave(call, SinkKind.DETACHED)
        elif name in ("save", "from_numpy"):
            self._leave(call, SinkKind.HANDED)
        elif name in facts.INDICES_SECOND and len(call.args) + len(call.keywords) > 1:
            self._compute(call, 0)
        else:
            self._compute(call)

    def _called(self, argument: ast.AST, call: ast.Call) -> None:
        """Handed to a network, a method, a function of the project or to nobody knows what."""
        tag = self.analysis.types.type_of(call.func).tag
        if tag is TypeTag.MODULE:
            self._compute(call)
            return
        targets = self.gradients.handed_to(call, argument)
        if targets is not None:
            for target, parameter in targets:
                self._followed(call, target, parameter)
            return
        effect = self.analysis.effects.call_effect(call)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if method in LEARNS:
            self._leave(call, SinkKind.LEARNED)  # `accelerator.backward(loss)`
        elif method == "scale":
            self._compute(call)  # `scaler.scale(loss)`
        elif effect.acts and effect.does_only(EffectKind.TELLS):
            self._leave(call, SinkKind.SHOWN)
        elif isinstance(call.func, ast.Attribute) and self._is_tensor(call.func.value):
            self._method(call, call.func.attr) if call.func.attr not in facts.PUTS_IN else self._compute(call)
        else:
            self._leave(call, SinkKind.HANDED)

    def _is_tensor(self, expression: ast.expr) -> bool:
        """Is it a tensor or a distribution, whose methods only compute?"""
        return self.analysis.types.type_of(expression).tag in (TypeTag.TENSOR, TypeTag.DISTRIBUTION)

    def _followed(self, call: ast.Call, target: FunctionSummary, parameter: str) -> None:
        function = self.gradients.definition(target)
        if function is None:
            outlet = SinkKind.DETACHED if parameter in target.releases else SinkKind.HANDED
            self._leave(call, outlet)
            return
        for left in self.gradients.parameter_outlets(function, parameter):
            if left.outlet is SinkKind.RETURNED:
                self._compute(call)
            else:
                self._leave(left.node, left.outlet)

    def _put_into(self, container: ast.expr, node: ast.expr) -> None:
        """`values.append(v)`: where the list is a local one, what becomes of the list."""
        if isinstance(container, ast.Name) and self.analysis.types.type_of(container).tag in _CONTAINERS:
            scope = self.syntax.scope(container).lookup(container.id)
            bindings = self.analysis.definitions.reaching(container)
            here = not is_captured(container, scope, self.syntax) if scope is not None else False
            if scope is not None and here and all(b.kind is BindingKind.ASSIGN for b in bindings):
                for binding in bindings:
                    self._variable(binding, scope)
                return
        self._leave(node, SinkKind.STORED)

    def _bound(self, target: ast.expr, item: int | None, statement: ast.AST) -> None:
        match target:
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for index, element in enumerate(elements):
                    if item is None or index == item or isinstance(element, ast.Starred):
                        self._bound(element, None, statement)
                    else:
                        self._leave(element, SinkKind.INDEX)
            case ast.Starred(value=value):
                self._bound(value, None, statement)
            case ast.Name():
                scope = self.syntax.scope(target).lookup(target.id)
                binding = self.syntax.variables.bound_at(target)
                if scope is None or binding is None:
                    self._leave(target, SinkKind.HANDED)
                else:
                    self._variable(binding, scope, item)
            case ast.Subscript(value=ast.Name() as container):
                self._put_into(container, target)
            case _:
                self._leave(target, SinkKind.STORED)

    def _variable(self, binding: Binding, scope: Scope, item: int | None = None) -> None:
        """Follow a variable to all places that may read what a binding gave it."""
        if (binding, item) in self._seen:
            return
        self._seen.add((binding, item))
        if scope.is_class:
            self._leave(binding.node, SinkKind.STORED)
            return
        readers = self.gradients.readers(binding, scope)
        self._reads += len(readers)
        if self._reads > _MOST_READS:
            self._leave(binding.node, SinkKind.HANDED)
            self._pending.clear()
            return
        for read in readers:
            if not isinstance(read.ctx, ast.Load):
                self._go_on(read)  # of `x += y`
            elif is_captured(read, scope, self.syntax):
                self._leave(read, SinkKind.HANDED)
            else:
                self._go_on(read, item)
